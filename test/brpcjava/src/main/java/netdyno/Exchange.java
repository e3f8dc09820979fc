package netdyno;

import com.baidu.brpc.protocol.BrpcMeta;

/** Service netdyno.v1.Exchange, as far as it is tested. */
public interface Exchange {
    @BrpcMeta(serviceName = "netdyno.v1.Exchange", methodName = "Unary")
    Block unary(Block request);

    @BrpcMeta(serviceName = "netdyno.v1.Exchange", methodName = "Simple")
    Block simple(Block request);
}
