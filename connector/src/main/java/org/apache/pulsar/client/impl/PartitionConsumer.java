package org.apache.pulsar.client.impl;

import io.github.pulsarspark.pulsar.feed.PartitionFeed;
import io.netty.buffer.ByteBuf;
import java.net.URI;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.pulsar.client.api.Consumer;
import org.apache.pulsar.client.api.Schema;
import org.apache.pulsar.client.impl.conf.ConsumerConfigurationData;
import org.apache.pulsar.common.api.proto.CommandMessage;
import org.apache.pulsar.common.api.proto.MessageIdData;
import org.apache.pulsar.common.protocol.Commands;

/**
 * A consumer that is sent stored entries, unopened: the one place where the connector relies on inner parts of the
 * Pulsar client, which has no public way to get whole entries. It lives in the client's package because
 * {@code messageReceived} and {@code grabCnx} are package-private. Subclasses decide what becomes of an entry.
 *
 * <p>Entries arrive in order and each one once: after every (re)connect the broker sends the entry it was asked to
 * start with again, so positions are compared and repeats dropped. The broker is asked to go on after the newest entry
 * received.
 *
 * <p>The superclass connects at the end of its constructor, when no field of this class has a value. So
 * {@code grabCnx} does nothing then, and {@code open} connects once the object is whole: no other thread ever sees it
 * before.
 */
abstract class PartitionConsumer extends ConsumerImpl<byte[]> implements PartitionFeed {

    /** Guards the fields of this class and of its subclasses. */
    final Object lock = new Object();

    private final BoundsRequests boundsRequests = new BoundsRequests(this);
    private final MessageCounter counter = new MessageCounter();
    private final UnbrokenSession session = new UnbrokenSession();
    private boolean whole;
    private Place first; // of those received
    private Place newest; // or the one after which positions are requested
    private int newestSession; // in which it arrived
    private boolean closed;
    private CompletableFuture<Void> subscribing = CompletableFuture.completedFuture(null);
    private final Outages outages = new Outages(System::nanoTime);

    /**
     * Makes a consumer that is not connected.
     *
     * @param after the entry after which entries are expected; null to expect any
     */
    PartitionConsumer(
        PulsarClientImpl client,
        FeedRequest request,
        ConsumerConfigurationData<byte[]> conf,
        CompletableFuture<Consumer<byte[]>> subscribed,
        Place after) {
        super(client, request.topic(), conf, client.externalExecutorProvider(), request.partition(), false, false,
            subscribed, request.start(), 0, Schema.BYTES, null, false);
        newest = after;
    }

    void connect() {
        whole = true; // handed to the network's threads with the task that connects
        super.grabCnx();
    }

    /** The superclass's constructor calls this, which is too early; see {@link #connect}. */
    @Override
    void grabCnx() {
        if (whole) {
            super.grabCnx();
        }
    }

    @Override
    void messageReceived(CommandMessage command, ByteBuf buffer, ClientCnx from) {
        MessageIdData id = command.getMessageId();
        synchronized (lock) {
            if (closed || from != cnx()) {
                return; // a late entry of a lost connection: it arrives again
            }
            int messages = counter.messagesIn(buffer);
            if (newest != null && !newest.isBefore(id.getLedgerId(), id.getEntryId())) {
                repeated(messages, from);
            } else if (hasRoomFor(buffer)) {
                newest = new Place(id.getLedgerId(), id.getEntryId());
                newestSession = session.number();
                if (first == null) {
                    first = newest;
                }
                arrived(newest, messages, buffer);
            }
        }
    }

    /** An entry came that came before. The caller has the lock. */
    abstract void repeated(int messages, ClientCnx from);

    /** Accepts or refuses the next entry. The caller has the lock. */
    abstract boolean hasRoomFor(ByteBuf buffer);

    /** The next entry came. The caller has the lock. */
    abstract void arrived(Place place, int messages, ByteBuf buffer);

    /** The consumer subscribes, so the broker knows no earlier permits. The caller has the lock. */
    abstract void sessionBegan();

    /** True if the bounds are requested as soon as a session begins: they may prove that it is unbroken. */
    abstract boolean provesAtOnce(int began);

    /** The consumer is being closed by its user. The caller has the lock. */
    abstract void discarded();

    @Override
    public CompletableFuture<Void> connectionOpened(ClientCnx connection) {
        int current;
        CompletableFuture<Void> answered = new CompletableFuture<>();
        synchronized (lock) {
            if (closed) {
                return CompletableFuture.completedFuture(null);
            }
            subscribing = answered;
            current = session.begin(newest);
            sessionBegan();
            if (newest != null) {
                lastDequeuedMessageId = new MessageIdImpl(newest.ledgerId(), newest.entryId(), -1);
            }
        }
        CompletableFuture<Void> subscribed = super.connectionOpened(connection);
        subscribed.whenComplete((ignored, failure) -> answered.complete(null));
        subscribed.thenRun(() -> {
            synchronized (lock) {
                if (session.number() == current && connection == cnx()) { // neither is lost again
                    outages.end();
                }
            }
            boundsRequests.failBefore(current);
            if (provesAtOnce(current)) {
                boundsRequests.send();
            }
        });
        return subscribed;
    }

    void answered(Bounds bounds, int asked) {
        synchronized (lock) {
            session.answered(bounds, asked);
        }
    }

    @Override
    public boolean isUnbroken() {
        synchronized (lock) {
            return session.isProven();
        }
    }

    @Override
    void connectionClosed(ClientCnx connection, Optional<Long> delayMillis, Optional<URI> broker) {
        synchronized (lock) {
            if (connection == cnx()) { // a late notice of one that was replaced begins nothing
                outages.begin();
            }
        }
        super.connectionClosed(connection, delayMillis, broker);
    }

    @Override
    public long longestOutageMillis() {
        synchronized (lock) {
            return outages.longestMillis();
        }
    }

    /**
     * Begins anew after the newest entry, as if nothing had arrived after it. The caller has the lock.
     *
     * @return false when another entry is the newest, or no broker knows this consumer now: nothing changes then
     */
    boolean beginAfter(Place after) {
        if (closed || !isConnected() || !after.equals(newest)) {
            return false;
        }
        first = null;
        session.waitAfter(after, newestSession);
        outages.forget(); // whatever arrived during an outage is up to the newest entry
        return true;
    }

    @Override
    public boolean isGone() {
        return getState() == State.Failed || getState() == State.Closed || getState() == State.Closing;
    }

    /** The first entry that has arrived, over every session; null before the first. */
    public Place first() {
        synchronized (lock) {
            return first;
        }
    }

    @Override
    public Place newest() {
        synchronized (lock) {
            return newest;
        }
    }

    /** The newest entry that has arrived in this session; null before the first. */
    Place newestOf(int asked) {
        synchronized (lock) {
            return newestSession == asked ? newest : null;
        }
    }

    /** The newest entry that has arrived, when the broker does not name the last one. */
    Place newestAndMore() {
        return newest();
    }

    @Override
    public int session() {
        synchronized (lock) {
            return session.number();
        }
    }

    /**
     * Sends permits without delay. The client's own method holds permits back until they are half a queue, which may be
     * more than a reader of large messages ever grants.
     */
    void sendPermits(ClientCnx to, int messages) {
        if (to != null && messages > 0) {
            to.ctx().writeAndFlush(Commands.newFlow(consumerId, messages), to.ctx().voidPromise());
        }
    }

    @Override
    public CompletableFuture<Bounds> bounds() {
        return boundsRequests.send();
    }

    /** Ends the subscription alone: what has arrived stays. */
    CompletableFuture<Void> unsubscribed() {
        return super.closeAsync();
    }

    /**
     * Waits for a pending subscribe, at most the operation timeout: if the response reaches a closed consumer, the
     * client closes the connection, which others share.
     */
    @Override
    public CompletableFuture<Void> closeAsync() {
        CompletableFuture<Void> underWay;
        synchronized (lock) {
            closed = true;
            discarded();
            underWay = subscribing;
        }
        if (underWay.isDone()) {
            return super.closeAsync();
        }
        return underWay.copy()
            .completeOnTimeout(null, client.getConfiguration().getOperationTimeoutMs(), TimeUnit.MILLISECONDS)
            .thenCompose(ignored -> super.closeAsync());
    }
}
