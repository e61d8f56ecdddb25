package io.github.pulsarspark.read.stream

import org.apache.hadoop.conf.Configuration

import io.github.pulsarspark.common.WriteOnceFile
import io.github.pulsarspark.position.StreamStart

/** Keeps the start of a stream under its checkpoint: resolved once, written once, read by every restart.
  *
  * @param checkpoint
  *   the folder Spark gives this source
  */
private[pulsarspark] final class InitialOffsetLog(checkpoint: String, conf: Configuration) {

  private val file = new WriteOnceFile(checkpoint, "initial-offset.json", conf)

  def getOrWrite(resolve: => StreamStart): StreamStart =
    if (file.exists) StreamStart.parse(file.read(), file.toString)
    else {
      val start = resolve
      file.write(start.json)
      start
    }
}
