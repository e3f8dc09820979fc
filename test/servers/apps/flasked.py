"""The same page by Flask: gunicorn flasked:app --bind 127.0.0.1:PORT"""
from flask import Flask

app = Flask(__name__)


@app.get("/orders/<int:order>")
def get(order):
    return {"id": order, "item": "tea"}
