import java.io.IOException;
import org.apache.spark.sql.ForeachWriter;
import org.apache.spark.sql.Row;

/** A sink that reads the clock for each row, of a due time (or null) and a partition. One for all queries of a Spark in local mode. */
public final class RowClock extends ForeachWriter<Row> {
    private static final long serialVersionUID = 1L;

    private static final Stamps STAMPS = new Stamps();

    private long task;

    /** Number of rows since the last {@link #save}. */
    public static int count() {
        return STAMPS.count();
    }

    /** Writes what arrived to a file, and forgets it. */
    public static void save(String file) throws IOException {
        STAMPS.save(file);
    }

    @Override
    public boolean open(long partition, long epoch) {
        task = partition;
        STAMPS.add(Stamps.OPENED, task);
        return true;
    }

    @Override
    public void process(Row row) {
        STAMPS.add(row.isNullAt(0) ? 0 : row.getLong(0), row.getInt(1));
    }

    @Override
    public void close(Throwable failure) {
        STAMPS.add(Stamps.CLOSED, task);
    }
}
