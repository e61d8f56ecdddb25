package org.apache.pulsar.client.impl;

import org.apache.pulsar.client.api.SubscriptionMode;
import org.apache.pulsar.client.api.SubscriptionType;
import org.apache.pulsar.client.impl.conf.ConsumerConfigurationData;

/**
 * Settings with which a {@link PartitionConsumer} subscribes.
 *
 * @param start the first requested entry; the broker sends it, or the first existing one after it
 * @param permits messages the broker may send ahead at first
 * @param readCompacted true to get what compaction kept of the topic
 */
public record FeedRequest(
    String topic,
    int partition,
    String subscription,
    String consumerName,
    MessageIdImpl start,
    int permits,
    boolean readCompacted) {

    /** Returns the settings of a non-durable consumer. */
    ConsumerConfigurationData<byte[]> configuration() {
        ConsumerConfigurationData<byte[]> conf = new ConsumerConfigurationData<>();
        conf.getTopicNames().add(topic);
        conf.setSubscriptionName(subscription);
        conf.setConsumerName(consumerName);
        conf.setSubscriptionType(SubscriptionType.Exclusive);
        conf.setSubscriptionMode(SubscriptionMode.NonDurable);
        conf.setReceiverQueueSize(permits);
        conf.setStartPaused(true);
        conf.setReadCompacted(readCompacted);
        // Hardly anything is acknowledged, and a timer for each of thousands of consumers would keep the client busy.
        conf.setAcknowledgementsGroupTimeMicros(0);
        return conf;
    }
}
