package io.github.pulsarspark.read.stream

import java.net.URLEncoder
import java.nio.charset.StandardCharsets.UTF_8

import org.apache.hadoop.conf.Configuration

import io.github.pulsarspark.common.WriteOnceFile
import io.github.pulsarspark.options.ReadOptions
import io.github.pulsarspark.position.{OffsetRange, PartitionBounds, PulsarOffset, StreamStart}
import io.github.pulsarspark.pulsar.broker.BrokerApi
import io.github.pulsarspark.pulsar.progress.ProgressSubscription

/** The progress subscription of a stream. A file under the checkpoint says that the stream has used it: what a new
  * subscription does not hold may be lost, what this one does not hold was read.
  *
  * @param checkpoint
  *   the folder Spark gives this source
  */
private[stream] final class StreamSubscription(
    subscription: ProgressSubscription,
    broker: BrokerApi,
    options: ReadOptions,
    checkpoint: String,
    conf: Configuration
) {

  private val file = new WriteOnceFile(s"$checkpoint/subscriptions",
    s"${URLEncoder.encode(subscription.name, UTF_8)}.json", conf)
  private lazy val isFollowed = file.exists
  private var isKept          = false

  /** Where the subscription is. Fails unless it exists in each of these partitions. */
  def start(partitions: Seq[String]): StreamStart = StreamStart(PulsarOffset.of(subscription.positions(partitions)))

  /** Subscribes to the partitions that exist. */
  def subscribe(partitions: collection.Set[String]): Unit = subscription.subscribe(partitions, isFollowed)

  /** Acknowledges what was read. Spark has committed the start of a micro-batch; it calls `commit` for the same only
    * when it has planned the next one.
    *
    * @param next
    *   what the stream has read after the micro-batch that starts now
    */
  def acknowledge(read: PulsarOffset, next: PulsarOffset, bounds: Map[String, PartitionBounds]): Unit = {
    if (!isKept && !isFollowed) file.write(s"""{"version":1}""")
    isKept = true
    subscription.acknowledge(read.positions, next.positions, bounds.view.mapValues(_.last).toMap)
  }

  /** The ranges, which start no earlier than what brokers keep of them. The compacted view shows no losses. */
  def kept(ranges: Seq[OffsetRange]): Seq[OffsetRange] =
    if (options.readCompacted) ranges
    else subscription.withoutAcknowledged(ranges, isFollowed, broker.readersAfter)
}
