import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.handler.codec.LengthFieldBasedFrameDecoder;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.LongAdder;
import org.apache.pulsar.common.api.proto.BaseCommand;
import org.apache.pulsar.common.api.proto.CommandCloseConsumer;
import org.apache.pulsar.common.api.proto.CommandConnect;
import org.apache.pulsar.common.api.proto.CommandGetLastMessageId;
import org.apache.pulsar.common.api.proto.CommandGetSchema;
import org.apache.pulsar.common.api.proto.CommandLookupTopic;
import org.apache.pulsar.common.api.proto.CommandLookupTopicResponse.LookupType;
import org.apache.pulsar.common.api.proto.CommandPartitionedTopicMetadata;
import org.apache.pulsar.common.api.proto.CommandPing;
import org.apache.pulsar.common.api.proto.CommandSubscribe;
import org.apache.pulsar.common.api.proto.ServerError;
import org.apache.pulsar.common.naming.TopicName;
import org.apache.pulsar.common.protocol.Commands;
import org.apache.pulsar.common.protocol.PulsarDecoder;

/**
 * What a cluster says while a read of a topic is planned, without a cluster: any topic has so many partitions, each of so many ledgers on one bookie. Both the
 * binary protocol and the admin service answer at once, from arithmetic, so that what is measured is the driver. Nothing can be read.
 *
 * <p>Prints its two ports; ends when its input does. {@code GET /counts} tells what was asked since the last time.
 */
final class SimulatedPulsar {
    private static final int ENTRIES = 1000;
    private static final int ENTRY_BYTES = 50_000;

    private final int partitions;
    private final int ledgers;
    private final Map<String, LongAdder> counts = new ConcurrentHashMap<>();
    private int port;

    private SimulatedPulsar(int partitions, int ledgers) {
        this.partitions = partitions;
        this.ledgers = ledgers;
    }

    public static void main(String[] arguments) throws Exception {
        SimulatedPulsar pulsar = new SimulatedPulsar(Integer.parseInt(arguments[0]), Integer.parseInt(arguments[1]));
        int adminPort = pulsar.serveAdmin();
        System.out.println(pulsar.serveBroker() + " " + adminPort);
        while (System.in.read() >= 0) { }
        System.exit(0);
    }

    private int serveBroker() throws InterruptedException {
        ServerBootstrap bootstrap = new ServerBootstrap().group(new NioEventLoopGroup(1)).channel(NioServerSocketChannel.class)
            .childHandler(new ChannelInitializer<SocketChannel>() {
                @Override
                protected void initChannel(SocketChannel channel) {
                    channel.pipeline().addLast(new LengthFieldBasedFrameDecoder(Commands.DEFAULT_MAX_MESSAGE_SIZE, 0, 4, 0, 4), new Connection());
                }
            });
        Channel channel = bootstrap.bind(InetAddress.getLoopbackAddress(), 0).sync().channel();
        port = ((InetSocketAddress) channel.localAddress()).getPort();
        return port;
    }

    private void count(String question) {
        counts.computeIfAbsent(question, ignored -> new LongAdder()).increment();
    }

    private long firstLedger(int partition) {
        return 1 + (long) partition * ledgers;
    }

    private long lastLedger(int partition) {
        return firstLedger(partition) + ledgers - 1;
    }

    /** One connection of a client. */
    private final class Connection extends PulsarDecoder {
        private final Map<Long, Integer> partitionOf = new ConcurrentHashMap<>();
        private ChannelHandlerContext context;

        @Override
        public void channelActive(ChannelHandlerContext active) {
            context = active;
        }

        @Override
        protected void messageReceived(BaseCommand command) {
            count(command.getType().name());
        }

        private void answer(ByteBuf bytes) {
            context.writeAndFlush(bytes, context.voidPromise());
        }

        @Override
        protected void handleConnect(CommandConnect connect) {
            answer(Commands.newConnected(connect.getProtocolVersion(), false));
        }

        @Override
        protected void handlePing(CommandPing ping) {
            answer(Commands.newPong());
        }

        @Override
        protected void handlePartitionMetadataRequest(CommandPartitionedTopicMetadata request) {
            answer(Commands.newPartitionMetadataResponse(partitions, request.getRequestId()));
        }

        @Override
        protected void handleLookup(CommandLookupTopic lookup) {
            answer(Commands.newLookupResponse("pulsar://127.0.0.1:" + port, null, true, LookupType.Connect, lookup.getRequestId(), false));
        }

        @Override
        protected void handleGetSchema(CommandGetSchema request) {
            answer(Commands.newGetSchemaResponseError(request.getRequestId(), ServerError.TopicNotFound, "no schema"));
        }

        @Override
        protected void handleSubscribe(CommandSubscribe subscribe) {
            partitionOf.put(subscribe.getConsumerId(), TopicName.get(subscribe.getTopic()).getPartitionIndex());
            answer(Commands.newSuccess(subscribe.getRequestId()));
        }

        @Override
        protected void handleCloseConsumer(CommandCloseConsumer close) {
            partitionOf.remove(close.getConsumerId());
            answer(Commands.newSuccess(close.getRequestId()));
        }

        @Override
        protected void handleGetLastMessageId(CommandGetLastMessageId request) {
            int partition = partitionOf.get(request.getConsumerId());
            answer(Commands.newGetLastMessageIdResponse(
                request.getRequestId(), lastLedger(partition), ENTRIES - 1, partition, -1, firstLedger(partition), -1));
        }
    }

    private int serveAdmin() throws IOException {
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 1024);
        server.createContext("/counts", exchange -> {
            Map<String, LongAdder> now = new TreeMap<>(counts);
            counts.clear();
            StringBuilder json = new StringBuilder("{");
            now.forEach((question, times) -> json.append(json.length() > 1 ? "," : "").append('"').append(question).append("\":").append(times));
            answer(exchange, json.append('}').toString());
        });
        server.createContext("/admin/", exchange -> {
            String path = exchange.getRequestURI().getPath();
            count(path.substring(path.lastIndexOf('/') + 1));
            answer(exchange, internalStats(TopicName.get(path.split("/")[6])));
        });
        server.setExecutor(Executors.newFixedThreadPool(2));
        server.start();
        return server.getAddress().getPort();
    }

    private static void answer(HttpExchange exchange, String json) throws IOException {
        byte[] body = json.getBytes(StandardCharsets.UTF_8);
        exchange.getResponseHeaders().set("Content-Type", "application/json");
        exchange.sendResponseHeaders(200, body.length);
        exchange.getResponseBody().write(body);
        exchange.close();
    }

    /** As brokers answer it, with what they say of each ledger. */
    private String internalStats(TopicName topic) {
        int partition = topic.getPartitionIndex();
        String owner = Base64.getEncoder().encodeToString(topic.getPersistenceNamingEncoding().getBytes(StandardCharsets.UTF_8));
        StringBuilder json = new StringBuilder("{\"entriesAddedCounter\":0,\"numberOfEntries\":" + (long) ENTRIES * ledgers + ",\"ledgers\":[");
        for (long id = firstLedger(partition); id <= lastLedger(partition); id++) {
            json.append(id == firstLedger(partition) ? "" : ",").append("{\"ledgerId\":").append(id).append(",\"entries\":").append(ENTRIES)
                .append(",\"size\":").append((long) ENTRIES * ENTRY_BYTES).append(",\"offloaded\":false,\"metadata\":\"").append(metadata(owner))
                .append("\",\"underReplicated\":false}");
        }
        return json.append("],\"currentLedgerEntries\":").append(ENTRIES).append(",\"currentLedgerSize\":").append((long) ENTRIES * ENTRY_BYTES)
            .append(",\"lastConfirmedEntry\":\"").append(lastLedger(partition)).append(':').append(ENTRIES - 1)
            .append("\",\"state\":\"LedgerOpened\",\"cursors\":{}}").toString();
    }

    private String metadata(String owner) {
        return "LedgerMetadata{formatVersion=3, ensembleSize=1, writeQuorumSize=1, ackQuorumSize=1, state=CLOSED, length="
            + (long) ENTRIES * ENTRY_BYTES + ", lastEntryId=" + (ENTRIES - 1) + ", digestType=CRC32C, password=OMITTED, ensembles={0=[127.0.0.1:"
            + port + "]}, customMetadata={component=base64:bWFuYWdlZC1sZWRnZXI=, pulsar/managed-ledger=base64:" + owner
            + ", application=base64:cHVsc2Fy}}";
    }
}
