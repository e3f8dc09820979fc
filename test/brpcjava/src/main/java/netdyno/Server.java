package netdyno;

import com.baidu.brpc.RpcContext;
import com.baidu.brpc.protocol.Options;
import com.baidu.brpc.server.RpcServer;
import com.baidu.brpc.server.RpcServerOptions;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.net.InetAddress;
import java.net.ServerSocket;

/** Echoes messages and attachments on a port that it prints, until its stdin ends. */
public final class Server implements Exchange {
    public static void main(String[] args) throws Exception {
        int port;
        try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            port = free.getLocalPort();
        }
        RpcServerOptions options = new RpcServerOptions();
        options.setProtocolType(Options.ProtocolType.PROTOCOL_BAIDU_STD_VALUE);
        RpcServer server = new RpcServer("127.0.0.1", port, options);
        server.registerService(new Server());
        server.start();
        System.out.println("listening " + port);
        while (System.in.read() >= 0) {
            continue; // only its end says something
        }
        System.exit(0); // netty's threads would stay
    }

    @Override
    public Block unary(Block request) {
        ByteBuf attachment = RpcContext.getContext().getRequestBinaryAttachment();
        if (attachment != null) {
            RpcContext.getContext().setResponseBinaryAttachment(Unpooled.copiedBuffer(attachment));
        }
        return request;
    }

    @Override
    public Block simple(Block request) {
        return request;
    }
}
