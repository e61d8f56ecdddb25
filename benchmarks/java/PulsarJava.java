import io.github.pulsarspark.shaded.org.apache.pulsar.client.api.CompressionType;
import io.github.pulsarspark.shaded.org.apache.pulsar.client.api.Message;
import io.github.pulsarspark.shaded.org.apache.pulsar.client.api.MessageId;
import io.github.pulsarspark.shaded.org.apache.pulsar.client.api.MessageRouter;
import io.github.pulsarspark.shaded.org.apache.pulsar.client.api.Producer;
import io.github.pulsarspark.shaded.org.apache.pulsar.client.api.ProducerBuilder;
import io.github.pulsarspark.shaded.org.apache.pulsar.client.api.PulsarClient;
import io.github.pulsarspark.shaded.org.apache.pulsar.client.api.Reader;
import io.github.pulsarspark.shaded.org.apache.pulsar.client.api.TopicMetadata;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

/** Pulsar's Java client without Spark: the {@code Reader} loop and the producer that an application would write. */
final class PulsarJava extends Commands {
    private static final int MEBIBYTE = 1024 * 1024;

    private final PulsarClient client;

    private PulsarJava(String serviceUrl) throws Exception {
        client = PulsarClient.builder().serviceUrl(serviceUrl).loadConf(Map.of("statsIntervalSeconds", 0)).build();
    }

    public static void main(String[] arguments) throws Exception {
        new PulsarJava(arguments[0]).serve();
    }

    @Override
    Done act(String action, Arguments arguments) throws Exception {
        return switch (action) {
            case "fill" -> fill(arguments);
            case "read" -> inParallel(arguments.number("threads"), index -> read(arguments, index));
            case "write" -> write(arguments);
            case "pace" -> pace(arguments);
            case "follow" -> follow(arguments);
            default -> throw new IllegalArgumentException(action);
        };
    }

    /** Batches of exactly so many messages, in turn over the partitions; single messages are not batched. */
    private Done fill(Arguments arguments) throws Exception {
        Content content = new Content(arguments);
        int partitions = arguments.number("partitions");
        int batch = arguments.number("batch");
        long count = Long.parseLong(arguments.text("count"));
        long bytes = 0;
        for (int partition = 0; partition < partitions; partition++) {
            ProducerBuilder<byte[]> builder = client.newProducer().topic(arguments.partition(partition)).blockIfQueueFull(true)
                .maxPendingMessages(Math.max(1000, 20 * batch)).enableBatching(batch > 1).compressionType(CompressionType.valueOf(arguments.text("compression")))
                .batchingMaxMessages(batch).batchingMaxBytes(4 * MEBIBYTE).batchingMaxPublishDelay(1, TimeUnit.MINUTES);
            try (Producer<byte[]> producer = builder.create()) {
                for (long first = (long) partition * batch; first < count; first += (long) partitions * batch) {
                    for (long row = first; row < first + batch; row++) {
                        byte[] value = content.value(row);
                        producer.newMessage().key(content.key(row)).value(value).sendAsync();
                        bytes += value.length;
                    }
                }
                producer.flush();
            }
        }
        return new Done(count, bytes);
    }

    private Done read(Arguments arguments, int index) throws Exception {
        long rows = 0;
        long bytes = 0;
        for (int p = index; p < arguments.number("partitions"); p += arguments.number("threads")) {
            try (Reader<byte[]> reader = client.newReader().topic(arguments.partition(p)).startMessageId(MessageId.earliest).create()) {
                long expected = Long.parseLong(arguments.text("count")) / arguments.number("partitions");
                for (long i = 0; i < expected; i++) {
                    Message<byte[]> message = reader.readNext(1, TimeUnit.MINUTES);
                    if (message == null) {
                        throw new IllegalStateException("no message for a minute after " + i + " of " + expected);
                    }
                    bytes += message.getData().length;
                    rows++;
                }
            }
        }
        return new Done(rows, bytes);
    }

    /** As many producers as Spark has tasks, each with its share of the rows. An application has an array for each message; fewer are faster. */
    private Done write(Arguments arguments) throws Exception {
        Content content = new Content(arguments);
        int threads = arguments.number("threads");
        boolean isFresh = Boolean.parseBoolean(arguments.text("fresh"));
        long share = Long.parseLong(arguments.text("count")) / threads;
        return inParallel(threads, index -> {
            AtomicReference<Throwable> failure = new AtomicReference<>();
            long bytes = 0;
            ProducerBuilder<byte[]> builder = client.newProducer().topic(arguments.text("topic")).blockIfQueueFull(true)
                .batchingMaxMessages(arguments.number("batch")).compressionType(CompressionType.valueOf(arguments.text("compression")));
            try (Producer<byte[]> producer = builder.create()) {
                for (long row = index * share; row < (index + 1) * share; row++) {
                    byte[] value = isFresh ? content.value(row).clone() : content.value(row);
                    bytes += value.length;
                    producer.newMessage().key(content.key(row)).value(value).sendAsync().whenComplete((id, error) -> {
                        if (error != null) {
                            failure.compareAndSet(null, error);
                        }
                    });
                }
                producer.flush();
            }
            if (failure.get() != null) {
                throw new IllegalStateException(failure.get());
            }
            return new Done(share, bytes);
        });
    }

    /** In turn over the partitions. Waits {@code linger} milliseconds for more messages of a batch; without any, messages are sent one by one. */
    private Done pace(Arguments arguments) throws Exception {
        int linger = arguments.number("linger");
        AtomicInteger next = new AtomicInteger();
        MessageRouter inTurn = new MessageRouter() {
            private static final long serialVersionUID = 1L;

            @Override
            public int choosePartition(Message<?> message, TopicMetadata topic) {
                return next.getAndIncrement() % topic.numPartitions();
            }
        };
        ProducerBuilder<byte[]> builder = client.newProducer().topic(arguments.text("topic")).messageRouter(inTurn).blockIfQueueFull(true)
            .enableBatching(linger > 0).batchingMaxPublishDelay(Math.max(1, linger), TimeUnit.MILLISECONDS);
        AtomicReference<Throwable> failure = new AtomicReference<>();
        try (Producer<byte[]> producer = builder.create()) {
            Done done = Paced.send(arguments, value -> producer.newMessage().value(value).sendAsync().whenComplete((id, error) -> {
                if (error != null) {
                    failure.compareAndSet(null, error);
                }
            }));
            producer.flush();
            if (failure.get() != null) {
                throw new IllegalStateException(failure.get());
            }
            return done;
        }
    }

    /** Writes to {@code file} when so many messages of a topic, as {@code pace} sends them, arrived at an application. */
    private Done follow(Arguments arguments) throws Exception {
        Stamps stamps = new Stamps();
        try (Reader<byte[]> reader = client.newReader().topic(arguments.text("topic")).startMessageId(MessageId.earliest).create()) {
            while (stamps.count() < arguments.number("count")) {
                Message<byte[]> message = reader.readNext(1, TimeUnit.MINUTES);
                if (message == null) {
                    throw new IllegalStateException("no message for a minute after " + stamps.count());
                }
                stamps.add(Paced.due(message.getData()), 0);
            }
        }
        Done done = new Done(stamps.count(), 0);
        stamps.save(arguments.text("file"));
        return done;
    }
}
