package io.github.pulsarspark.read.stream

import java.net.URLEncoder
import java.nio.charset.StandardCharsets.UTF_8

import org.apache.hadoop.conf.Configuration

import io.github.pulsarspark.common.{RunningQuery, WriteOnceFile}
import io.github.pulsarspark.errors.Conditions
import io.github.pulsarspark.options.ReadOptions
import io.github.pulsarspark.position.{OffsetRange, PartitionBounds, PulsarOffset, StreamStart}
import io.github.pulsarspark.pulsar.broker.BrokerApi
import io.github.pulsarspark.pulsar.progress.ProgressSubscription

/** The progress subscription of a stream. A file under the checkpoint says that the stream has used it: messages that a
  * new subscription does not hold may be lost, those that this one does not hold were read. A subscription that is
  * ahead of the stream proves nothing, so the file is written once the stream has caught up with it.
  *
  * @param checkpoint
  *   the folder Spark gives this source
  */
private[stream] final class StreamSubscription private (
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

  /** Start of the stream at the subscription's positions. Fails unless the subscription exists in each of these
    * partitions.
    */
  def start(partitions: Seq[String]): StreamStart = StreamStart(PulsarOffset.of(subscription.positions(partitions)))

  /** Subscribes to the partitions that exist.
    *
    * @param read
    *   what Spark has committed
    */
  def subscribe(partitions: collection.Set[String], read: PulsarOffset): Unit =
    subscription.subscribe(partitions, p => isFollowed && read.positions.contains(p))

  /** Acknowledges the messages read. Spark has committed the start of a micro-batch; it calls `commit` for the same
    * only when it has planned the next one.
    *
    * @param next
    *   what the stream has read after the micro-batch that starts now
    */
  def acknowledge(read: PulsarOffset, next: PulsarOffset, bounds: Map[String, PartitionBounds]): Unit = {
    if (!isKept && (isFollowed || subscription.holds(read.positions))) {
      if (!isFollowed) file.write("""{"version":1}""")
      isKept = true
    }
    subscription.acknowledge(read.positions, next.positions, bounds.view.mapValues(_.last).toMap)
  }

  /** The ranges, which start no earlier than what brokers keep of them. The compacted view shows no losses. */
  def kept(ranges: Seq[OffsetRange]): Seq[OffsetRange] =
    if (options.readCompacted) ranges
    else subscription.withoutAcknowledged(ranges, _ => isFollowed, broker.readersAfter)
}

private[stream] object StreamSubscription {

  /** Fails for a query with asynchronous progress: after a failure, it reads acknowledged messages again. */
  def apply(
      subscription: ProgressSubscription,
      broker: BrokerApi,
      options: ReadOptions,
      checkpoint: String,
      conf: Configuration
  ): StreamSubscription = {
    if (RunningQuery.commitsLater)
      throw Conditions.OptionConflict(first = "progressSubscription", second = "asyncProgressTrackingEnabled").exception
    new StreamSubscription(subscription, broker, options, checkpoint, conf)
  }
}
