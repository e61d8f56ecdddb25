package io.github.pulsarspark.read.stream

import org.apache.hadoop.conf.Configuration

import io.github.pulsarspark.common.WriteOnceFile
import io.github.pulsarspark.errors.LostRanges

/** Keeps the losses that a stream passed over under its checkpoint, as files `losses/<milliseconds>.json`, because logs
  * and progress reports do not last as long.
  *
  * @param checkpoint
  *   the folder Spark gives this source
  */
private[stream] final class LossLog(checkpoint: String, conf: Configuration) {

  private var kept = 0L

  /** Writes the newest of the losses since the query started, unless they are written. */
  def keep(losses: LostRanges): Unit = if (losses.count > kept) {
    val fresh = losses.newest.takeRight(math.min(losses.count - kept, LostRanges.MostKept).toInt)
    new WriteOnceFile(s"$checkpoint/losses", s"${System.currentTimeMillis}.json", conf)
      .write(LostRanges(losses.count - kept, fresh).json)
    kept = losses.count
  }
}
