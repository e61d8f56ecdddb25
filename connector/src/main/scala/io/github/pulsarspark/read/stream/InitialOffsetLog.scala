package io.github.pulsarspark.read.stream

import java.time.Instant

import org.apache.hadoop.conf.Configuration
import org.slf4j.LoggerFactory

import io.github.pulsarspark.common.WriteOnceFile
import io.github.pulsarspark.position.{PulsarOffset, StreamStart}

/** Keeps the start of a stream under its checkpoint: resolved once, written once, read by every restart.
  *
  * The folder may have been streamnative/pulsar-spark's. The first start of a stream here then takes the start over
  * from that connector's own file, which stays as it is.
  *
  * @param checkpoint
  *   the folder Spark gives this source
  */
private[pulsarspark] final class InitialOffsetLog(checkpoint: String, conf: Configuration) {

  private val file = new WriteOnceFile(checkpoint, "initial-offset.json", conf)

  def getOrWrite(resolve: => StreamStart): StreamStart =
    if (file.exists) StreamStart.parse(file.read(), file.toString)
    else {
      val start = incumbent.getOrElse(resolve)
      file.write(start.json)
      start
    }

  /** Time at which the start was written; None before. */
  def writtenAt: Option[Instant] = Option.when(file.exists)(file.writtenAt)

  private def incumbent: Option[StreamStart] = {
    val log = new WriteOnceFile(checkpoint, "0", conf)
    Option.when(log.exists) {
      val start = StreamStart(PulsarOffset.parseIncumbentStart(PulsarOffset.logContent(log.read()), log.toString))
      InitialOffsetLog.log.warn(s"The stream continues from a checkpoint of streamnative/pulsar-spark: $checkpoint")
      start
    }
  }
}

private object InitialOffsetLog {
  private val log = LoggerFactory.getLogger(classOf[InitialOffsetLog])
}
