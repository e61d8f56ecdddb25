package io.github.pulsarspark.read.stream

import java.time.Instant

import io.github.pulsarspark.options.ReadOptions
import io.github.pulsarspark.position.{PartitionBounds, PulsarOffset, StreamStart}
import io.github.pulsarspark.pulsar.connection.ClusterCalls
import io.github.pulsarspark.read.plan.BoundResolver
import io.github.pulsarspark.read.stream.loss.RecreatedTopics

/** The beginning of a stream: its start, resolved once for all runs, and what of its topics was created after that.
  *
  * @param checkpoint
  *   the folder of this source under the query's checkpoint
  */
private[stream] final class StreamOrigin(
    options: ReadOptions,
    checkpoint: String,
    session: StreamSession,
    marks: StreamMarks
) {

  private lazy val log = new InitialOffsetLog(checkpoint, session.hadoop)

  /** Start of the stream at its first run. */
  lazy val start: StreamStart = log.getOrWrite(resolve())

  /** Detects recreated topics. None for a compacted view, whose ledgers may be deleted, and with a subscription, which
    * knows what is lost.
    */
  private lazy val recreatedTopics: Option[RecreatedTopics] =
    session.admin.filterNot(_ => options.readCompacted || session.subscription.isDefined).map { admin =>
      val calls = new ClusterCalls(options.client, admin.url)
      new RecreatedTopics(start.offset, log.writtenAt, RecreatedTopics.created(admin, calls))
    }

  /** Times at which partitions were created again, as far as that is known. */
  def recreated(read: PulsarOffset, bounds: Map[String, PartitionBounds]): Map[String, Instant] =
    recreatedTopics.fold(Map.empty[String, Instant])(_.among(read, bounds))

  private def resolve(): StreamStart = {
    val topics = session.discovery.topics()
    val result =
      session.subscription.filter(_ => options.startsAtSubscription).map(_.start(topics.values.flatten.toSeq.sorted))
        .getOrElse(new BoundResolver(options, session.broker).streamStart(topics))
    result.copy(offset = marks.on(result.offset))
  }
}
