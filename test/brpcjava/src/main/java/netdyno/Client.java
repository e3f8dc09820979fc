package netdyno;

import com.baidu.brpc.RpcContext;
import com.baidu.brpc.client.BrpcProxy;
import com.baidu.brpc.client.RpcClient;
import com.baidu.brpc.client.RpcClientOptions;
import com.baidu.brpc.client.channel.ChannelType;
import com.baidu.brpc.protocol.Options;
import io.netty.buffer.ByteBuf;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Calls a server of ours and prints how many calls were right:
 *
 * <pre>
 * Client PORT single|pooled THREADS CALLS simple REQUEST REPLY      texts
 * Client PORT single|pooled THREADS CALLS attachment UP DOWN        sizes
 * Client PORT single|pooled THREADS CALLS block UP DOWN             sizes
 * </pre>
 *
 * Of contents that it cannot know, each must be that of the first reply.
 */
public final class Client {
    private final Exchange exchange;
    private final String kind;
    private final String up;
    private final String down;
    private volatile byte[] expected;

    private Client(Exchange exchange, String[] args) {
        this.exchange = exchange;
        kind = args[4];
        up = args[5];
        down = args[6];
    }

    public static void main(String[] args) throws Exception {
        RpcClientOptions options = new RpcClientOptions();
        options.setProtocolType(Options.ProtocolType.PROTOCOL_BAIDU_STD_VALUE);
        options.setChannelType(args[1].equals("single") ? ChannelType.SINGLE_CONNECTION : ChannelType.POOLED_CONNECTION);
        options.setReadTimeoutMillis(20_000);
        options.setWriteTimeoutMillis(20_000);
        RpcClient rpc = new RpcClient("list://127.0.0.1:" + args[0], options);
        Client client = new Client(BrpcProxy.getProxy(rpc, Exchange.class), args);
        int threads = Integer.parseInt(args[2]);
        int calls = Integer.parseInt(args[3]);
        AtomicInteger right = new AtomicInteger(client.once() ? 1 : 0);
        ExecutorService pool = Executors.newFixedThreadPool(threads);
        for (int i = 1; i < calls; i++) {
            pool.submit(() -> right.addAndGet(client.once() ? 1 : 0));
        }
        pool.shutdown();
        boolean finished = pool.awaitTermination(120, TimeUnit.SECONDS);
        System.out.println(right.get() + " of " + calls + " calls right" + (finished ? "" : ", and time is up"));
        System.exit(0); // netty's threads would stay
    }

    /** Makes one call and tells whether the reply is what had to come. */
    private boolean once() {
        try {
            Block request = new Block();
            byte[] reply;
            switch (kind) {
                case "simple":
                    request.content = up.getBytes(StandardCharsets.UTF_8);
                    reply = exchange.simple(request).content;
                    return Arrays.equals(reply, down.getBytes(StandardCharsets.UTF_8));
                case "attachment":
                    RpcContext.getContext().setRequestBinaryAttachment(new byte[Integer.parseInt(up)]);
                    exchange.unary(request);
                    ByteBuf attached = RpcContext.getContext().getResponseBinaryAttachment();
                    reply = new byte[attached.readableBytes()];
                    attached.readBytes(reply);
                    attached.release();
                    break;
                default:
                    request.content = new byte[Integer.parseInt(up)];
                    reply = exchange.unary(request).content;
            }
            if (expected == null) {
                expected = reply;
            }
            return reply.length == Integer.parseInt(down) && Arrays.equals(reply, expected);
        } catch (RuntimeException e) {
            System.err.println(e);
            return false;
        }
    }
}
