package io.github.pulsarspark.pulsar.feed;

/** The places of the entries of one topic partition as its broker dispatches them. The entries are dropped. */
public interface PositionFeed extends PartitionFeed {

    /** The first entry that has arrived, over every session; null before the first. */
    Place first();

    /**
     * Waits for the first entry after {@code after}.
     *
     * @return false when {@code after} is not the newest entry that has arrived, or no broker knows this consumer now:
     * the feed then stays as it is
     */
    boolean waitAfter(Place after);
}
