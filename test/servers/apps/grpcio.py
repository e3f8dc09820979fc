"""A gRPC service by Python's grpcio, which describes itself: python grpcio.py PORT"""
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import grpc
from grpc_reflection.v1alpha import reflection

pb, services = grpc.protos_and_services("shop.proto")


class Shop(services.ShopServicer):
    def Buy(self, order, context):
        return pb.Receipt(id="r-" + order.item, count=order.count)

    def Follow(self, order, context):
        for n in range(10):
            yield pb.Receipt(id="r-" + order.item, count=n)
            time.sleep(0.01)


server = grpc.server(ThreadPoolExecutor(max_workers=4))
services.add_ShopServicer_to_server(Shop(), server)
reflection.enable_server_reflection(("shop.v1.Shop", reflection.SERVICE_NAME), server)
server.add_insecure_port("127.0.0.1:" + sys.argv[1])
server.start()
server.wait_for_termination()
