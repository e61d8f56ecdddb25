package io.github.pulsarspark.pulsar.broker

import scala.collection.mutable
import scala.concurrent.duration._

import io.github.pulsarspark.position.PartitionBounds

/** The bounds of the partitions of a stream, trigger after trigger. A partition whose watch is quiet has the bounds of
  * its last response. A share of these is requested at each trigger nevertheless, those first that were not requested
  * for the longest time: a notification that is lost delays a message, and nothing else. The share is all of them in a
  * stream with few partitions.
  *
  * A watch represents its partition as long as the ledger it stands in is that of the last message. Where messages
  * begin is requested by `probe` otherwise.
  *
  * @param probe
  *   requests the bounds of partitions by consumers that stand at their beginning; missing partitions are skipped
  * @param nanos
  *   the clock
  */
private[pulsar] final class StreamBounds(
    probe: Seq[String] => Map[String, PartitionBounds],
    watches: IdleTailMonitor,
    nanos: () => Long = () => System.nanoTime()
) {
  import StreamBounds._

  private val known    = mutable.LinkedHashMap.empty[String, PartitionBounds] // in the order of their responses
  private val answered = mutable.HashMap.empty[String, Long]                  // when

  /** The current bounds of these partitions, and no others; missing partitions are skipped. */
  def of(partitions: Seq[String]): Map[String, PartitionBounds] = {
    val existing = partitions.toSet
    watches.retain(existing)
    known.filterInPlace((p, _) => existing(p))
    val now       = nanos()
    val checked   = watches.unconfirmed(now)
    val quiet     = known.collect { case (p, b) if watches.after(p).contains(b.last) && watches.isQuiet(p) => p }.toSeq
    val unchanged = quiet
      .drop(share(quiet.size))
      .filter(p => now - answered(p) < WatchTtl.toNanos && !checked(p))
      .map(p => p -> known(p))
      .toMap
    val requested = request(partitions.filterNot(unchanged.contains), checked)
    known.filterInPlace((p, _) => unchanged.contains(p))
    answered.filterInPlace((p, _) => unchanged.contains(p))
    requested.foreach { case (p, b) =>
      known.put(p, b.copy(emptyAfter = None))
      answered.put(p, now)
    }
    unchanged ++ requested
  }

  /** @param checked
    *   partitions whose watch is compared with a probe
    */
  private def request(partitions: Seq[String], checked: Set[String]): Map[String, PartitionBounds] = {
    val answers = watches.request(partitions.filter(p => known.contains(p) && !checked(p)))
    val watched = answers.collect { case (p, answer) if suffices(answer, known(p)) => p -> moved(answer, known(p)) }
    val probed  = probe(partitions.filterNot(watched.contains))
    val empty   = watches.emptyBefore(probed.view.mapValues(_.first).toMap)
    val result  = watched ++ probed.map { case (p, b) => p -> b.copy(emptyAfter = empty.get(p)) }
    checked.foreach(p => probed.get(p).foreach(b => watches.confirm(p, b.last)))
    answers.foreach { case (p, answer) => if (result.contains(p)) watches.answered(p, answer) }
    result
  }
}

private[pulsar] object StreamBounds {

  /** Number of partitions up to which all are requested at each trigger, although their watches are quiet. */
  private val AlwaysPolled = 128

  /** Triggers until each of more partitions was requested. */
  private val PollRounds = 60

  /** TTL of a watch's response, however seldom triggers are. */
  private val WatchTtl = 1.minute

  /** Minimum number of partitions, of `quiet` ones with a quiet watch, to request at one trigger. */
  def share(quiet: Int): Int = if (quiet <= AlwaysPolled) quiet else (quiet + PollRounds - 1) / PollRounds

  /** A partition begins where it began as long as the ledger of the watched position exists. That of an empty partition
    * is dropped by an unload, which begins a session.
    */
  private def suffices(answer: IdleTailMonitor.Answer, before: PartitionBounds): Boolean =
    if (answer.last.isBeforeLedger) answer.isSameSession && before.first == answer.after
    else answer.last.ledgerId == answer.after.ledgerId && answer.last >= answer.after

  private def moved(answer: IdleTailMonitor.Answer, before: PartitionBounds): PartitionBounds =
    before.copy(last = if (answer.last.isBeforeLedger) before.first else answer.last)
}
