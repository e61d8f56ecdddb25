package io.github.pulsarspark.read.stream.loss

import org.apache.hadoop.conf.Configuration

import io.github.pulsarspark.common.WriteOnceFile
import io.github.pulsarspark.errors.LostRanges

/** Keeps the losses that a stream skipped under its checkpoint, as files `losses/<milliseconds>.json`, because logs and
  * progress reports do not last as long.
  *
  * @param checkpoint
  *   the folder Spark gives this source
  */
private[stream] final class LossLog(checkpoint: String, conf: Configuration) {

  private var written = Seq.empty[Long]

  /** Writes the losses since the last call.
    *
    * @param sources
    *   the losses since the query started, by who found them; always in the same order
    */
  def keep(sources: LostRanges*): Unit = synchronized {
    val counts = sources.map(_.count)
    if (counts != written) {
      val fresh = sources.zipAll(written, LostRanges.none, 0L).map { case (lost, before) => lost.after(before) }
      if (fresh.exists(_.count > 0)) write(fresh.reduce(_ ++ _).json)
      written = counts
    }
  }

  /** Writes losses to a new file. Two losses may be found in one millisecond: the later one takes the next number. */
  private def write(json: String): Unit = {
    val _ = Iterator.from(0).map(System.currentTimeMillis + _)
      .find(at => new WriteOnceFile(s"$checkpoint/losses", s"$at.json", conf).writeIfAbsent(json))
  }
}
