"""The same page by FastAPI: uvicorn fast:app --port PORT"""
import asyncio

from fastapi import FastAPI
from fastapi.responses import StreamingResponse

app = FastAPI()


@app.get("/orders/{order}")
async def get(order: int):
    return {"id": order, "item": "tea"}


@app.get("/block")  # what make bench asks everybody for
async def block():
    return {"id": 7, "item": "tea"}


@app.get("/events")
async def events():
    async def all():
        for n in range(10):
            yield f"data: {n}\n\n"
            await asyncio.sleep(0.01)

    return StreamingResponse(all(), media_type="text/event-stream")
