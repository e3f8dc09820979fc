package netdyno;

import com.baidu.bjf.remoting.protobuf.FieldType;
import com.baidu.bjf.remoting.protobuf.annotation.Protobuf;

/** netdyno.v1.Block; netdyno.v1.Text has the same bytes. */
public class Block {
    @Protobuf(fieldType = FieldType.BYTES, order = 1)
    public byte[] content;
}
