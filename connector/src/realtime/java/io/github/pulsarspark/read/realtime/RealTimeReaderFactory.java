package io.github.pulsarspark.read.realtime;

import io.github.pulsarspark.read.tails.TailsReaders;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.sql.connector.read.PartitionReader;
import org.apache.spark.sql.connector.read.PartitionReaderFactory;

/** Creates the readers of real-time tasks, in the form that Spark asks for. */
record RealTimeReaderFactory(TailsReaders readers) implements PartitionReaderFactory {

    @Override
    public PartitionReader<InternalRow> createReader(InputPartition partition) {
        return new RealTimeReader(readers.reader(partition));
    }
}
