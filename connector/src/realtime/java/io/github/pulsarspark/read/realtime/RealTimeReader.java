package io.github.pulsarspark.read.realtime;

import io.github.pulsarspark.read.tails.TailPositions;
import io.github.pulsarspark.read.tails.TailsReader;
import java.util.concurrent.TimeUnit;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.connector.read.streaming.SupportsRealTimeRead;

/**
 * The reader of a real-time task. Spark 4.1 calls {@code nextWithTimeout} with the time left, later lines with the time
 * at which they computed it as well. Neither method has {@code Override}, because no line has both as an abstract one.
 */
final class RealTimeReader implements SupportsRealTimeRead<InternalRow> {

    /** Spark does not use the time at which a record arrived, so all rows share one value. */
    private static final RecordStatus ROW = RecordStatus.newStatusWithoutArrivalTime(true);
    private static final RecordStatus NONE = RecordStatus.newStatusWithoutArrivalTime(false);

    private final TailsReader tails;

    RealTimeReader(TailsReader tails) {
        this.tails = tails;
    }

    public RecordStatus nextWithTimeout(Long timeoutMillis) {
        return tails.next(System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(timeoutMillis)) ? ROW : NONE;
    }

    public RecordStatus nextWithTimeout(Long startMillis, Long timeoutMillis) {
        return nextWithTimeout(timeoutMillis);
    }

    @Override
    public boolean next() {
        throw new UnsupportedOperationException("Spark reads a real-time batch with nextWithTimeout.");
    }

    @Override
    public InternalRow get() {
        return tails.row();
    }

    @Override
    public TailPositions getOffset() {
        return tails.finish();
    }

    @Override
    public void close() {
        tails.close();
    }
}
