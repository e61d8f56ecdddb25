package io.github.pulsarspark.pulsar.progress;

import io.github.pulsarspark.pulsar.feed.PartitionFeed;
import java.util.concurrent.CompletableFuture;

/**
 * A consumer of a durable subscription, whose cursor moves when it acknowledges. It never hands out an entry.
 */
public interface ProgressFeed extends PartitionFeed {

    /**
     * An entry that arrived.
     *
     * @param isNext true when the consumer has been connected ever since the acknowledgement, so that nothing but
     *     markers and aborted messages is between that and this entry
     */
    record Arrival(Place place, boolean isNext) { }

    /** Acknowledges every entry up to and including this one. Completes with the broker's receipt. */
    CompletableFuture<Void> acknowledge(Place place);

    /** The first entry that arrives after the one acknowledged last. Completes when it does. */
    CompletableFuture<Arrival> firstAfterAcknowledged();

    /**
     * Lets the broker send one more entry. The broker then reads up to that entry. It acknowledges markers and aborted
     * messages on the way, which nothing else does.
     */
    void awaitNext();
}
