import com.google.protobuf.ByteString;
import io.grpc.MethodDescriptor;
import io.grpc.ServerServiceDefinition;
import io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder;
import io.grpc.protobuf.ProtoUtils;
import io.grpc.stub.ServerCalls;
import java.net.InetSocketAddress;
import netdyno.v1.ExchangeOuterClass.Block;

/** A server of grpc-java with the library's defaults, its method as generated stubs have it, without netdyno: its arguments are the port and the reply's length. */
public final class GrpcBare {
  public static void main(String[] arguments) throws Exception {
    ByteString content = ByteString.copyFrom(new byte[Integer.parseInt(arguments[1])]);
    MethodDescriptor<Block, Block> unary = MethodDescriptor.<Block, Block>newBuilder().setType(MethodDescriptor.MethodType.UNARY)
        .setFullMethodName("netdyno.v1.Exchange/Unary").setRequestMarshaller(ProtoUtils.marshaller(Block.getDefaultInstance()))
        .setResponseMarshaller(ProtoUtils.marshaller(Block.getDefaultInstance())).build();
    NettyServerBuilder.forAddress(new InetSocketAddress("127.0.0.1", Integer.parseInt(arguments[0])))
        .addService(ServerServiceDefinition.builder("netdyno.v1.Exchange").addMethod(unary, ServerCalls.asyncUnaryCall((request, to) -> {
          to.onNext(Block.newBuilder().setContent(content).build());
          to.onCompleted();
        })).build()).build().start().awaitTermination();
  }
}
