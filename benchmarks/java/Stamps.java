import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Instant;
import java.util.concurrent.atomic.AtomicInteger;

/** When messages arrived, in microseconds since 1970, in memory until it is saved. Any thread adds. */
final class Stamps {

    /** Stands in place of the due time when a task begins. */
    static final long OPENED = -1;
    /** Stands in place of the due time when a task ends. */
    static final long CLOSED = -2;

    private static final int MOST = 5_000_000;

    private final AtomicInteger used = new AtomicInteger();
    private final AtomicInteger messages = new AtomicInteger();
    private final long[] due = new long[MOST];
    private final long[] at = new long[MOST];
    private final long[] partition = new long[MOST];

    static long micros() {
        Instant now = Instant.now();
        return now.getEpochSecond() * 1_000_000 + now.getNano() / 1_000;
    }

    /**
     * Adds what arrived now.
     *
     * @param dueMicros when its sender had to send it, 0 if nobody knows
     */
    void add(long dueMicros, long ofPartition) {
        int place = used.getAndIncrement();
        due[place] = dueMicros;
        at[place] = micros();
        partition[place] = ofPartition;
        if (dueMicros >= 0) {
            messages.getAndIncrement();
        }
    }

    /** Number of messages. */
    int count() {
        return messages.get();
    }

    /** Writes due times, times of arrival and partitions one after the other, eight bytes each as this machine orders them, and forgets them. */
    void save(String file) throws IOException {
        int count = used.get();
        ByteBuffer bytes = ByteBuffer.allocate(3 * 8 * count).order(ByteOrder.nativeOrder());
        for (long[] values : new long[][] {due, at, partition}) {
            bytes.asLongBuffer().put(values, 0, count);
            bytes.position(bytes.position() + 8 * count);
        }
        bytes.flip();
        try (FileChannel channel = FileChannel.open(Path.of(file), StandardOpenOption.CREATE, StandardOpenOption.WRITE, StandardOpenOption.TRUNCATE_EXISTING)) {
            while (bytes.hasRemaining()) {
                channel.write(bytes);
            }
        }
        used.set(0);
        messages.set(0);
    }
}
