package io.github.pulsarspark.offsets

import java.nio.charset.StandardCharsets.UTF_8

import scala.util.Using

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{FileAlreadyExistsException, Path}

/** Keeps how a stream began under its checkpoint: resolved once, written once, read back by every restart.
  *
  * @param checkpoint
  *   the folder Spark gives this source
  */
private[pulsarspark] final class InitialOffsetLog(checkpoint: String, conf: Configuration) {

  private val file = new Path(checkpoint, "initial-offset.json")
  private val fs   = file.getFileSystem(conf)

  def getOrWrite(resolve: => StreamStart): StreamStart = if (fs.exists(file)) read() else write(resolve)

  private def read(): StreamStart = Using.resource(fs.open(file)) { in =>
    StreamStart.parse(new String(in.readAllBytes(), UTF_8), file.toString)
  }

  /** Written beside and renamed, so that the file is there whole or not at all. */
  private def write(start: StreamStart): StreamStart = {
    val draft = new Path(checkpoint, s".initial-offset-${java.util.UUID.randomUUID}.json")
    Using.resource(fs.create(draft, false))(_.write(start.json.getBytes(UTF_8)))
    if (!fs.rename(draft, file)) {
      fs.delete(draft, false)
      throw new FileAlreadyExistsException(s"$file was written by another query meanwhile: two queries use one checkpoint")
    }
    start
  }
}
