package io.github.pulsarspark.inspect.reads

import scala.util.Using

import io.github.pulsarspark.common.BlockingParallel
import io.github.pulsarspark.format.{EntrySummary, RangeGuard}
import io.github.pulsarspark.options.ReadOptions
import io.github.pulsarspark.position.OffsetRange
import io.github.pulsarspark.pulsar.BrokerEntries

/** Reads the first entry with messages of each range, many ranges at a time. */
private[reads] object FirstEntries {

  private val Threads = 64

  /** The entry of each topic partition whose range has one. */
  def of(ranges: Seq[OffsetRange], options: ReadOptions): Map[String, EntrySummary] = {
    val single = options.copy(readAheadMessages = 1, failOnDataLoss = false,
      pollTimeout = options.client.operationTimeout)
    val threads = new BlockingParallel("pulsar-spark-lag", Threads)
    try {
      val answers = ranges.map(range => range.topic -> threads.begin(() => first(range, single)))
      answers.flatMap { case (topic, answer) => answer().map(topic -> _) }.toMap
    } finally threads.stop(0): Unit
  }

  private def first(range: OffsetRange, options: ReadOptions): Option[EntrySummary] =
    Using.resource(BrokerEntries.entries(range, options, new RangeGuard(range), None)) { source =>
      Iterator.continually(source.next()).takeWhile(identity).flatMap(_ => EntrySummary.of(source.entry)).nextOption()
    }
}
