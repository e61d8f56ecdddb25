package io.github.pulsarspark.storage.offload

import scala.concurrent.duration.FiniteDuration
import scala.util.{Try, Using}

import org.apache.hadoop.conf.Configuration

import io.github.pulsarspark.format.entry.EntrySource
import io.github.pulsarspark.storage.offload.format.OffloadedLedger

/** Reads what brokers have offloaded, without a broker, over Hadoop's file systems.
  *
  * Reads fail with `SegmentUnreadable`, whose cause is a named error: `PULSAR_OFFLOAD_GONE` when there is no copy (any
  * more), `PULSAR_OFFLOAD_CORRUPT` when it is damaged, `PULSAR_OFFLOAD_UNSUPPORTED` for a format that is not read here,
  * `PULSAR_OFFLOAD_FAILED` when the storage fails, `PULSAR_OFFLOAD_TIMEOUT` when it does not respond.
  */
private[offload] object OffloadedLedgers {

  private val SmallestBuffer = 64L << 10
  private val LargestBuffer  = 8L << 20

  /** Entries `first` to `last`, both included.
    *
    * @param configuration
    *   of the file systems; may hold secrets and is never printed
    * @param readAheadBytes
    *   the most to keep in memory, apart from entries that are larger
    * @param deadline
    *   the longest that `next()` may wait
    */
  def open(
      ledger: OffloadedLedger,
      first: Long,
      last: Long,
      configuration: Configuration,
      readAheadBytes: Long,
      deadline: FiniteDuration
  ): EntrySource = {
    require(first >= 0 && first <= last, s"entries $first to $last")
    val bufferBytes =
      math.min(LargestBuffer, math.max(SmallestBuffer, readAheadBytes / 2)).toInt // one is read, the other filled
    new OffloadedEntrySource(
      new StorageThread(ledger, first, deadline),
      last,
      () => ledger.location.format.open(ledger, first, last, bufferBytes, configuration)
    )
  }

  /** Preferred split points of each ledger; empty if it may be split anywhere. Several ledgers are read at a time.
    *
    * A failure is a `SegmentUnreadable`, silent when the storage had half of the deadline to respond and did not, or
    * [[SplitPointLoader.NoTime]] when it had less.
    *
    * @param deadline
    *   for all of them together
    */
  def splitPoints(
      ledgers: Seq[OffloadedLedger],
      configuration: Configuration,
      deadline: FiniteDuration
  ): Seq[Try[Seq[Long]]] =
    Using.resource(new SplitPointLoader(configuration, deadline))(_.of(ledgers))
}
