package io.github.pulsarspark.inspect.state

import java.time.Instant

import scala.util.Try

import com.fasterxml.jackson.databind.ObjectMapper

/** File of one micro-batch in the log of a streaming query, as Spark 4.0 to 4.3 write it: a line with the version, one
  * with JSON of Spark, and in the log of offsets a line for each source. Pure.
  *
  * @param offsets
  *   by source: its number, or its name in version 2; without those that have no offset yet
  * @param planned
  *   when the micro-batch was planned; None in the log of commits
  */
private[state] final case class LogFile(offsets: Seq[(String, String)], planned: Option[Instant] = None)

private[state] object LogFile {
  private val mapper  = new ObjectMapper
  private val Version = raw"v(\d{1,9})".r

  /** Offset of a source that has none. */
  private val Nothing = "-"

  /** Parses a file. Left: why it is not whole. */
  def parse(text: String): Either[String, LogFile] = text.linesIterator.toList match {
    case Version(number) :: metadata :: offsets if isJson(metadata) =>
      Right(LogFile(sources(number.toInt, offsets).filterNot(_._2 == Nothing), planned(metadata)))
    case Version(_) :: _ => Left("it ends too early")
    case Nil             => Left("it is empty")
    case _               => Left("its first line is not a version")
  }

  private def sources(version: Int, lines: Seq[String]): Seq[(String, String)] =
    if (version == 1) lines.zipWithIndex.map { case (offset, index) => index.toString -> offset }
    else lines.map(_.split(":", 2)).collect { case Array(name, offset) => name -> offset }

  private def planned(metadata: String) =
    Option(mapper.readTree(metadata).path("batchTimestampMs").asLong).filter(_ > 0).map(Instant.ofEpochMilli)

  private def isJson(text: String) = Try(mapper.readTree(text)).toOption.exists(_.isObject)
}
