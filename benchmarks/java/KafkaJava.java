import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/** Makes, fills, counts and deletes the Kafka topics that Spark's Kafka source and sink are measured with. */
final class KafkaJava extends Commands {
    private static final int MEBIBYTE = 1024 * 1024;
    private static final int REQUEST_MILLIS = 5_000;

    private final Map<String, Object> servers;

    private KafkaJava(String servers) {
        this.servers = Map.of("bootstrap.servers", servers);
    }

    public static void main(String[] arguments) throws Exception {
        new KafkaJava(arguments[0]).serve();
    }

    @Override
    Done act(String action, Arguments arguments) throws Exception {
        String topic = arguments.text("topic");
        try (Admin admin = Admin.create(servers)) {
            switch (action) {
                case "create" -> admin.createTopics(List.of(new NewTopic(topic, Optional.of(arguments.number("partitions")), Optional.empty()))).all().get();
                case "delete" -> admin.deleteTopics(List.of(topic)).all().get();
                case "count" -> {
                    return new Done(count(admin, topic, arguments.number("partitions")), 0);
                }
                case "fill" -> {
                    return fill(topic, arguments);
                }
                case "pace" -> {
                    return pace(topic, arguments);
                }
                case "follow" -> {
                    return follow(topic, arguments);
                }
                case "read" -> {
                    return inParallel(arguments.number("threads"), index -> read(topic, arguments, index));
                }
                default -> throw new IllegalArgumentException(action);
            }
        }
        return new Done(0, 0);
    }

    private static long count(Admin admin, String topic, int partitions) throws Exception {
        Map<TopicPartition, OffsetSpec> ends = new HashMap<>();
        for (int partition = 0; partition < partitions; partition++) {
            ends.put(new TopicPartition(topic, partition), OffsetSpec.latest());
        }
        return admin.listOffsets(ends).all().get().values().stream().mapToLong(end -> end.offset()).sum();
    }

    /** Batches of exactly so many messages, in turn over the partitions: the producer sends when it is flushed and not before. */
    private Done fill(String topic, Arguments arguments) {
        Map<String, Object> settings = new HashMap<>(servers);
        settings.put("linger.ms", 60_000);
        settings.put("batch.size", 4 * MEBIBYTE);
        settings.put("max.request.size", 5 * MEBIBYTE);
        settings.put("buffer.memory", 64 * MEBIBYTE);
        settings.put("compression.type", arguments.text("compression").toLowerCase());
        int partitions = arguments.number("partitions");
        int batch = arguments.number("batch");
        long count = Long.parseLong(arguments.text("count"));
        long bytes = 0;
        AtomicReference<Exception> failure = new AtomicReference<>();
        try (KafkaProducer<byte[], byte[]> producer = new KafkaProducer<>(settings, new ByteArraySerializer(), new ByteArraySerializer())) {
            Content content = new Content(arguments);
            for (long first = 0; first < count; first += (long) partitions * batch) {
                for (long row = first; row < first + (long) partitions * batch; row++) {
                    byte[] value = content.value(row);
                    byte[] key = content.key(row).getBytes(StandardCharsets.UTF_8);
                    producer.send(new ProducerRecord<>(topic, (int) ((row - first) / batch), key, value), (metadata, error) -> {
                        if (error != null) {
                            failure.compareAndSet(null, error);
                        }
                    });
                    bytes += value.length;
                }
                producer.flush();
            }
        } catch (IOException unreadable) {
            throw new java.io.UncheckedIOException(unreadable);
        }
        if (failure.get() != null) {
            throw new IllegalStateException(failure.get());
        }
        return new Done(count, bytes);
    }

    private Done read(String topic, Arguments arguments, int index) {
        long rows = 0;
        long bytes = 0;
        for (int p = index; p < arguments.number("partitions"); p += arguments.number("threads")) {
            TopicPartition partition = new TopicPartition(topic, p);
            long expected = Long.parseLong(arguments.text("count")) / arguments.number("partitions");
            long seen = 0;
            try (KafkaConsumer<byte[], byte[]> consumer = new KafkaConsumer<>(servers, new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
                consumer.assign(List.of(partition));
                consumer.seekToBeginning(List.of(partition));
                while (seen < expected) {
                    var records = consumer.poll(Duration.ofMinutes(1));
                    if (records.isEmpty()) {
                        throw new IllegalStateException("no message for a minute after " + seen + " of " + expected);
                    }
                    for (ConsumerRecord<byte[], byte[]> record : records) {
                        bytes += record.value().length;
                        seen++;
                    }
                }
            }
            rows += seen;
        }
        return new Done(rows, bytes);
    }

    /**
     * In turn over the partitions. Waits {@code linger} milliseconds for more messages of a batch. The answer is without those that were not sent: now and
     * then the client keeps the last messages of one of many partitions until their time is over.
     */
    private Done pace(String topic, Arguments arguments) throws InterruptedException {
        int partitions = arguments.number("partitions");
        AtomicInteger next = new AtomicInteger();
        AtomicInteger failed = new AtomicInteger();
        Map<String, Object> settings = new HashMap<>(servers);
        settings.put("linger.ms", arguments.number("linger"));
        settings.put("request.timeout.ms", REQUEST_MILLIS);
        settings.put("delivery.timeout.ms", 2 * REQUEST_MILLIS);
        Done done;
        try (KafkaProducer<byte[], byte[]> producer = new KafkaProducer<>(settings, new ByteArraySerializer(), new ByteArraySerializer())) {
            done = Paced.send(arguments, value -> producer.send(new ProducerRecord<>(topic, next.getAndIncrement() % partitions, null, value), (metadata, error) -> {
                if (error != null) {
                    failed.getAndIncrement();
                }
            }));
        }
        return new Done(done.rows() - failed.get(), 0);
    }

    /** Writes to {@code file} when so many messages of a topic's only partition, as {@code pace} sends them, arrived at an application. */
    private Done follow(String topic, Arguments arguments) throws IOException {
        Stamps stamps = new Stamps();
        TopicPartition partition = new TopicPartition(topic, 0);
        try (KafkaConsumer<byte[], byte[]> consumer = new KafkaConsumer<>(servers, new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
            consumer.assign(List.of(partition));
            consumer.seekToBeginning(List.of(partition));
            while (stamps.count() < arguments.number("count")) {
                var records = consumer.poll(Duration.ofMinutes(1));
                if (records.isEmpty()) {
                    throw new IllegalStateException("no message for a minute after " + stamps.count());
                }
                for (ConsumerRecord<byte[], byte[]> record : records) {
                    stamps.add(Paced.due(record.value()), 0);
                }
            }
        }
        Done done = new Done(stamps.count(), 0);
        stamps.save(arguments.text("file"));
        return done;
    }
}
