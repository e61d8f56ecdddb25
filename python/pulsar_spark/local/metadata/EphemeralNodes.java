import static java.nio.charset.StandardCharsets.UTF_8;

import java.nio.ByteBuffer;
import org.rocksdb.Options;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;

/**
 * Deletes the ephemeral nodes from the RocksDB metadata store of a standalone server that is not running, and prints their paths.
 *
 * <p>A value is, as {@code RocksdbMetadataStore.MetaValue} of Pulsar writes it: two ints (length of the header, version of the format), four longs (version,
 * owner, time of creation, time of modification), a byte that is not 0 for ephemeral nodes, and the data. Keys that are not paths hold the store's own counters.
 */
final class EphemeralNodes {
    private static final int HEADER_BYTES = 41;
    private static final int FORMAT = 1;
    private static final int EPHEMERAL_AT = 40;

    private EphemeralNodes() {}

    public static void main(String[] arguments) throws RocksDBException {
        try (var options = new Options();
                var store = RocksDB.open(options, arguments[0]);
                var nodes = store.newIterator()) {
            for (nodes.seekToFirst(); nodes.isValid(); nodes.next()) {
                String path = new String(nodes.key(), UTF_8);
                if (path.startsWith("/") && isEphemeral(nodes.value())) {
                    store.delete(nodes.key());
                    System.out.println(path);
                }
            }
            nodes.status();
        }
    }

    private static boolean isEphemeral(byte[] value) {
        ByteBuffer header = ByteBuffer.wrap(value);
        return value.length >= HEADER_BYTES && header.getInt() == HEADER_BYTES && header.getInt() == FORMAT && value[EPHEMERAL_AT] != 0;
    }
}
