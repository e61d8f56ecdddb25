package io.github.pulsarspark.common

import java.io.IOException
import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{FileSystemException, Files}
import java.time.Instant

import scala.util.Using

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{FileAlreadyExistsException, LocalFileSystem, Path}

import io.github.pulsarspark.errors.Conditions

/** A text that is written once and read by every start of a query after that. */
private[pulsarspark] final class WriteOnceFile(folder: String, name: String, conf: Configuration) {

  import WriteOnceFile.MaxBytes

  private val file = new Path(folder, name)
  private val fs   = file.getFileSystem(conf)

  def exists: Boolean = fs.exists(file)

  def read(): String = {
    if (fs.getFileStatus(file).getLen > MaxBytes)
      throw Conditions.CheckpointMalformed(where = toString, why = s"it has more than $MaxBytes bytes").exception
    Using.resource(fs.open(file))(in => new String(in.readNBytes(MaxBytes), UTF_8))
  }

  /** Modification time of the file, by the clock of the file system. */
  def writtenAt: Instant = Instant.ofEpochMilli(fs.getFileStatus(file).getModificationTime)

  /** Fails if the file exists. */
  def write(text: String): Unit =
    if (!writeIfAbsent(text))
      throw new FileAlreadyExistsException(
        s"$file was written by another query meanwhile: two queries use one checkpoint"
      )

  /** Writes a draft and renames it, so that the file exists as a whole or not at all. Returns false if the file exists.
    */
  def writeIfAbsent(text: String): Boolean = {
    val draft = new Path(folder, s".${name.stripSuffix(".json")}-${java.util.UUID.randomUUID}.json")
    Using.resource(fs.create(draft, false))(_.write(text.getBytes(UTF_8)))
    val isWritten = fs match {
      case local: LocalFileSystem => link(local, draft)
      case _                      => fs.rename(draft, file)
    }
    if (!isWritten) {
      fs.delete(draft, false)
      if (!exists) throw new IOException(s"$file cannot be written: $draft was not renamed")
    }
    isWritten
  }

  /** A rename on a local path replaces a file, a link never does. Some file systems have no links. */
  private def link(local: LocalFileSystem, draft: Path): Boolean =
    try {
      Files.createLink(local.pathToFile(file).toPath, local.pathToFile(draft).toPath)
      local.delete(draft, false)
      true
    } catch {
      case _: java.nio.file.FileAlreadyExistsException               => false
      case _: UnsupportedOperationException | _: FileSystemException => !exists && local.rename(draft, file)
    }

  override def toString: String = file.toString
}

private[common] object WriteOnceFile {

  /** Size limit of the file: far more than the schemas and positions of all topics of a query. */
  val MaxBytes: Int = 256 << 20
}
