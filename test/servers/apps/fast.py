"""The same page by FastAPI: uvicorn fast:app --port PORT"""
from fastapi import FastAPI

app = FastAPI()


@app.get("/orders/{order}")
async def get(order: int):
    return {"id": order, "item": "tea"}


@app.get("/block")  # what make bench asks everybody for
async def block():
    return {"id": 7, "item": "tea"}
