import io.netty.buffer.ByteBuf;
import org.apache.bookkeeper.mledger.Entry;
import org.apache.pulsar.broker.service.plugin.EntryFilter;
import org.apache.pulsar.broker.service.plugin.FilterContext;
import org.apache.pulsar.common.api.proto.MessageMetadata;
import org.apache.pulsar.common.api.proto.SingleMessageMetadata;
import org.apache.pulsar.common.compression.CompressionCodecProvider;
import org.apache.pulsar.common.protocol.Commands;

/** Rejects entries all of whose messages have the property `drop`. */
public final class DropFilter implements EntryFilter {

    @Override
    public FilterResult filterEntry(Entry entry, FilterContext context) {
        MessageMetadata metadata = context.getMsgMetadata();
        if (!metadata.hasNumMessagesInBatch()) {
            return result(metadata.getPropertiesList().stream().anyMatch(p -> p.getKey().equals("drop")));
        }
        ByteBuf stored = entry.getDataBuffer().duplicate();
        Commands.skipBrokerEntryMetadataIfExist(stored);
        Commands.skipMessageMetadata(stored);
        try {
            ByteBuf batch = CompressionCodecProvider.getCompressionCodec(metadata.getCompression())
                .decode(stored, metadata.getUncompressedSize());
            int dropped = 0;
            for (int i = 0; i < metadata.getNumMessagesInBatch(); i++) {
                SingleMessageMetadata one = new SingleMessageMetadata();
                Commands.deSerializeSingleMessageInBatch(batch, one, i, metadata.getNumMessagesInBatch()).release();
                dropped += one.getPropertiesList().stream().anyMatch(p -> p.getKey().equals("drop")) ? 1 : 0;
            }
            batch.release();
            return result(dropped == metadata.getNumMessagesInBatch());
        } catch (java.io.IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }

    private static FilterResult result(boolean isDropped) {
        return isDropped ? FilterResult.REJECT : FilterResult.ACCEPT;
    }

    @Override
    public void close() { }
}
