package io.github.pulsarspark.read.realtime;

import io.github.pulsarspark.read.stream.PulsarMicroBatchStream;
import io.github.pulsarspark.read.task.ReadContext;
import org.apache.spark.sql.connector.read.PartitionReaderFactory;
import org.apache.spark.sql.connector.read.streaming.SupportsRealTimeMode;
import org.apache.spark.sql.types.StructType;

/**
 * A stream that Spark may run in real-time mode, too. Spark 4.0 has no such mode and never loads this class, so no
 * other code names it.
 */
public final class RealTimeStream extends PulsarMicroBatchStream implements SupportsRealTimeMode {

    public RealTimeStream(ReadContext task, StructType columns, String checkpoint) {
        super(task, columns, checkpoint);
    }

    @Override
    public PartitionReaderFactory createReaderFactory() {
        return isRealTime() ? new RealTimeReaderFactory(tailsReaders()) : super.createReaderFactory();
    }
}
