package io.github.pulsarspark.common

import java.nio.charset.StandardCharsets.UTF_8
import java.time.Instant

import scala.util.Using

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{FileAlreadyExistsException, Path}

/** A text that is written once and read by every start of a query after that. */
private[pulsarspark] final class WriteOnceFile(folder: String, name: String, conf: Configuration) {

  private val file = new Path(folder, name)
  private val fs   = file.getFileSystem(conf)

  def exists: Boolean = fs.exists(file)

  def read(): String = Using.resource(fs.open(file))(in => new String(in.readAllBytes(), UTF_8))

  /** By the clock of the file system. */
  def writtenAt: Instant = Instant.ofEpochMilli(fs.getFileStatus(file).getModificationTime)

  /** Written beside and renamed, so that the file is there whole or not at all. */
  def write(text: String): Unit = {
    val draft = new Path(folder, s".${name.stripSuffix(".json")}-${java.util.UUID.randomUUID}.json")
    Using.resource(fs.create(draft, false))(_.write(text.getBytes(UTF_8)))
    if (!fs.rename(draft, file)) {
      fs.delete(draft, false)
      throw new FileAlreadyExistsException(
        s"$file was written by another query meanwhile: two queries use one checkpoint"
      )
    }
  }

  override def toString: String = file.toString
}
