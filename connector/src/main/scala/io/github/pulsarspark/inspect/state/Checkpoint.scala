package io.github.pulsarspark.inspect.state

import java.io.{FileNotFoundException, IOException}

import scala.util.Try

import com.fasterxml.jackson.databind.ObjectMapper
import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path

import io.github.pulsarspark.common.WriteOnceFile
import io.github.pulsarspark.errors.{Conditions, FirstLine}
import io.github.pulsarspark.policy.AllowedStorage

/** Files of the checkpoint of a streaming query, on any file system of Hadoop. */
private[state] final class Checkpoint private (path: String, conf: Configuration) {

  /** Id of the query; None where the file is missing or damaged. */
  def queryId: Option[String] =
    text("metadata").flatMap(t => Try(Checkpoint.mapper.readTree(t).path("id").textValue).toOption).flatMap(Option(_))

  /** Numbers of the micro-batches in one of Spark's logs, `offsets` or `commits`. */
  def batches(log: String): Seq[Long] = names(log).flatMap(_.toLongOption).sorted

  /** File of a micro-batch. Left: why it is not whole. */
  def batch(log: String, number: Long): Either[String, LogFile] =
    text(s"$log/$number").toRight("it does not exist").flatMap(LogFile.parse)

  /** Names of the files of a folder. */
  def names(folder: String): Seq[String] = Checkpoint.names(new Path(path, folder), conf)

  /** Content of a file; None if there is no such file. */
  def text(file: String): Option[String] = Checkpoint.readable(path) {
    val one = new Path(path, file)
    val log = new WriteOnceFile(one.getParent.toString, one.getName, conf)
    Option.when(log.exists)(log.read())
  }

  /** Full path of a file, for errors. */
  def place(file: String): String = new Path(path, file).toString
}

private[state] object Checkpoint {
  private val mapper = new ObjectMapper

  /** Folders within a checkpoint, which people take for it. */
  private val Parts = Set("offsets", "commits", "sources", "state")

  /** Fails with a named condition unless the folder is a checkpoint, or was one. */
  def apply(path: String, conf: Configuration): Checkpoint = {
    AllowedStorage.check("checkpoint", path, conf)
    val here = readable(path)(new Path(path))
    val all  = names(here, conf)
    if (!all.exists(n => n == "metadata" || n == "offsets")) throw notFound(path, problem(here, all, conf))
    new Checkpoint(path, conf)
  }

  private def problem(here: Path, all: Seq[String], conf: Configuration): String = {
    def isCheckpoint(folder: Path) = names(folder, conf).contains("offsets")
    if (!readable(here.toString)(here.getFileSystem(conf).exists(here))) "it does not exist"
    else if (all.isEmpty) "it is empty"
    else if (Parts(here.getName) && here.getParent != null && isCheckpoint(here.getParent))
      s"it is a part of one, ${here.getParent}"
    else
      all.map(new Path(here, _)).find(isCheckpoint).fold("it has neither `metadata` nor `offsets`")(inner =>
        s"it has one in it, $inner"
      )
  }

  private def notFound(path: String, why: String) = Conditions.CheckpointNotFound(path = path, why = why).exception

  private def names(folder: Path, conf: Configuration): Seq[String] = readable(folder.toString) {
    try folder.getFileSystem(conf).listStatus(folder).toSeq.map(_.getPath.getName).filterNot(_.startsWith(".")).sorted
    catch { case _: FileNotFoundException => Nil }
  }

  private def readable[A](path: String)(read: => A): A =
    try read
    catch {
      case e @ (_: IOException | _: IllegalArgumentException) =>
        throw Conditions.CheckpointUnreadable(path = path, cause = FirstLine(e)).causedBy(e)
    }
}
