import io.github.pulsarspark.shaded.org.apache.pulsar.client.api.Producer;
import io.github.pulsarspark.shaded.org.apache.pulsar.client.api.ProducerBuilder;
import io.github.pulsarspark.shaded.org.apache.pulsar.client.api.MessageId;
import io.github.pulsarspark.shaded.org.apache.pulsar.client.api.PulsarClient;
import io.github.pulsarspark.shaded.org.apache.pulsar.client.api.Reader;
import io.github.pulsarspark.shaded.org.apache.pulsar.client.api.transaction.Transaction;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;

/** Fills topics in which hardly any entry follows the one before it, and some without gaps; reads them with the client's own reader. */
final class GapsJava extends Commands {
    private static final int TRANSACTIONS_AT_ONCE = 500;
    private static final int BATCH = 1000;
    private static final byte[] VALUE = new byte[64];

    private final PulsarClient client;

    private GapsJava(String serviceUrl) throws Exception {
        client = PulsarClient.builder().serviceUrl(serviceUrl).enableTransaction(true).loadConf(Map.of("statsIntervalSeconds", 0)).build();
    }

    public static void main(String[] arguments) throws Exception {
        new GapsJava(arguments[0]).serve();
    }

    @Override
    Done act(String action, Arguments arguments) throws Exception {
        long count = Long.parseLong(arguments.text("count"));
        if (action.equals("read")) {
            return read(arguments.text("topic"), count, Boolean.parseBoolean(arguments.text("compacted")));
        }
        ProducerBuilder<byte[]> builder = client.newProducer().topic(arguments.text("topic")).blockIfQueueFull(true)
            .sendTimeout(0, TimeUnit.SECONDS);
        if (action.equals("plain")) {
            return plain(builder, count, Integer.parseInt(arguments.text("size")));
        }
        builder.enableBatching(false);
        try (Producer<byte[]> producer = builder.create()) {
            switch (action) {
                case "transactions" -> transactions(producer, count);
                case "keys" -> keys(producer, count);
                default -> throw new IllegalArgumentException(action);
            }
        }
        return new Done(count, count * VALUE.length);
    }

    /** Messages without gaps, in batches of 1,000. */
    private static Done plain(ProducerBuilder<byte[]> builder, long count, int size) throws Exception {
        builder.batchingMaxMessages(BATCH).batchingMaxBytes(BATCH * 2 * size + BATCH).batchingMaxPublishDelay(1, TimeUnit.SECONDS);
        byte[] value = new byte[size];
        new Random(size).nextBytes(value);
        try (Producer<byte[]> producer = builder.create()) {
            for (long row = 0; row < count; row++) {
                producer.sendAsync(value);
            }
            producer.flush();
        }
        return new Done(count, count * size);
    }

    private Done read(String topic, long count, boolean compacted) throws Exception {
        long bytes = 0;
        try (Reader<byte[]> reader = client.newReader().topic(topic).startMessageId(MessageId.earliest).readCompacted(compacted).create()) {
            for (long row = 0; row < count; row++) {
                bytes += reader.readNext(1, TimeUnit.MINUTES).getData().length;
            }
        }
        return new Done(count, bytes);
    }

    /** Transactions of one message each, all committed: a marker follows every message. */
    private void transactions(Producer<byte[]> producer, long count) throws Exception {
        Semaphore free = new Semaphore(TRANSACTIONS_AT_ONCE);
        AtomicReference<Throwable> failure = new AtomicReference<>();
        for (long row = 0; row < count && failure.get() == null; row++) {
            free.acquire();
            client.newTransaction().withTransactionTimeout(1, TimeUnit.HOURS).build()
                .thenCompose(transaction -> send(producer, transaction))
                .whenComplete((done, error) -> {
                    failure.compareAndSet(null, error);
                    free.release();
                });
        }
        free.acquire(TRANSACTIONS_AT_ONCE);
        if (failure.get() != null) {
            throw new IllegalStateException(failure.get());
        }
    }

    private static CompletableFuture<Void> send(Producer<byte[]> producer, Transaction transaction) {
        return producer.newMessage(transaction).value(VALUE).sendAsync().thenCompose(id -> transaction.commit());
    }

    /** Keys that compaction keeps, each followed by a message of one that is always updated. */
    private static void keys(Producer<byte[]> producer, long count) throws Exception {
        for (long row = 0; row < count; row++) {
            producer.newMessage().key("key " + row).value(VALUE).sendAsync();
            producer.newMessage().key("again and again").value(VALUE).sendAsync();
        }
        producer.flush();
    }
}
