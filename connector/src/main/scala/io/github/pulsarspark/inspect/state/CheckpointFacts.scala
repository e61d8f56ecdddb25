package io.github.pulsarspark.inspect.state

import java.time.Instant

import scala.jdk.CollectionConverters._
import scala.util.Try

import com.fasterxml.jackson.databind.ObjectMapper

import io.github.pulsarspark.errors.PulsarError
import io.github.pulsarspark.position.{PulsarOffset, StreamStart}

/** Facts that a checkpoint keeps: how far its query is, where its sources are, and what they lost. A file that is
  * damaged is a fact, too.
  */
private[state] final class CheckpointFacts(checkpoint: Checkpoint) {
  import CheckpointFacts._

  // in this order, because a query that runs plans a micro-batch before it commits it
  private val committed = checkpoint.batches("commits")
  private val planned   = checkpoint.batches("offsets")

  /** The facts in the order in which people ask for them. */
  def all: Seq[CheckpointFact] = {
    val newest  = planned.lastOption
    val done    = committed.lastOption.filter(planned.contains)
    val offsets = (done.map(_ -> "committed").toSeq ++ newest.filterNot(done.contains).map(_ -> "planned")).map {
      case (batch, record) => (batch, record, checkpoint.batch("offsets", batch))
    }
    val sources = offsets.flatMap(_._3.toSeq).flatMap(_.offsets.map(_._1)).distinct ++ checkpoint.names("sources")
    query +:
      (torn ++ offsets.collect { case (batch, _, Left(why)) => damaged(s"offsets/$batch", why, Some(batch)) } ++
        commits ++ sources.distinct.sorted.flatMap(ofSource(_, offsets)))
  }

  private def query: CheckpointFact = {
    val id   = checkpoint.queryId.fold("its id is not known")(i => s"query $i")
    val next = planned.lastOption.filterNot(committed.contains).fold("")(n =>
      s"; the next start repeats micro-batch $n"
    )
    CheckpointFact("query", batch = committed.lastOption,
      detail = Some(s"$id; planned: ${span(planned)}; committed: ${span(committed)}$next"))
  }

  /** Spark needs the offsets of each micro-batch that is committed last, and of the one after it. */
  private def torn: Seq[CheckpointFact] =
    if (planned.isEmpty && committed.isEmpty) Nil
    else committed.lastOption.filterNot(planned.contains).toSeq.map(n =>
      CheckpointFact(
        "damaged",
        batch = Some(n),
        detail = Some(s"micro-batch $n is committed, but offsets/$n does not exist: " +
          "the folder was copied in part, or while its query ran")
      )
    )

  private def commits: Seq[CheckpointFact] =
    committed.lastOption.toSeq.flatMap(n =>
      checkpoint.batch("commits", n).left.toOption.map(why => damaged(s"commits/$n", why, Some(n)))
    )

  private def damaged(file: String, why: String, batch: Option[Long] = None, source: Option[String] = None) =
    CheckpointFact("damaged", source, batch = batch, detail = Some(s"${checkpoint.place(file)}: $why"))

  private def ofSource(name: String, offsets: Seq[(Long, String, Either[String, LogFile])]): Seq[CheckpointFact] = {
    val own = offsets.flatMap { case (batch, record, file) =>
      file.toSeq.flatMap(_.offsets.collect { case (`name`, json) => (batch, record, json) })
    }
    val kind  = own.lastOption.flatMap(o => PulsarOffset.writer(o._3)).orElse(startKind(name))
    val facts = start(name) ++ own.flatMap { case (batch, record, json) => ofOffset(name, batch, record, json) } ++
      readUntil(name, offsets) ++ losses(name)
    val absent = Option.when(kind.exists(_.startsWith(Own)) && checkpoint.text(startFile(name)).isEmpty)(
      damaged(startFile(name), "it does not exist: the folder was copied without it", source = Some(name))
    )
    (facts ++ absent).map(_.copy(kind = kind.orElse(Some(Unknown))))
  }

  private def ofOffset(source: String, batch: Long, record: String, json: String): Seq[CheckpointFact] =
    if (isForeign(json)) Seq(CheckpointFact(record, Some(source), batch = Some(batch), detail = Some(json)))
    else if (PulsarOffset.writer(json).isEmpty)
      Seq(damaged(s"offsets/$batch", "the offset is not JSON", Some(batch), Some(source)))
    else
      positions(source, s"offsets/$batch", record, Some(batch))(
        PulsarOffset.parse(json, checkpoint.place(s"offsets/$batch"))
      )

  /** The publish time up to which everything is read that was there when the last micro-batch was planned, as far as it
    * is known: that of its plan, or of a marked message, which is earlier where a limit left a backlog.
    */
  private def readUntil(
      source: String,
      offsets: Seq[(Long, String, Either[String, LogFile])]
  ): Option[CheckpointFact] =
    for {
      (batch, file) <- offsets.collectFirst { case (number, "committed", Right(whole)) => number -> whole }
      (_, json)     <- file.offsets.find(_._1 == source) if !isForeign(json)
      offset        <- Try(PulsarOffset.parse(json, source)).toOption
      earliest      <- (file.planned ++ offset.marks.values.map(m => Instant.ofEpochMilli(m.publishTime))).minOption
    } yield CheckpointFact("time", Some(source), batch = Some(batch), detail = Some(earliest.toString))

  private def positions(
      source: String,
      file: String,
      record: String,
      batch: Option[Long]
  )(offset: => PulsarOffset): Seq[CheckpointFact] =
    try offset.positions.toSeq.map { case (topic, position) =>
        CheckpointFact(record, Some(source), batch = batch, topic = Some(topic), position = Some(position.toString))
      }
    catch { case e: PulsarError => Seq(damaged(file, e.parameters.getOrElse("why", e.condition), batch, Some(source))) }

  /** The start as this connector keeps it, else as streamnative/pulsar-spark does. */
  private def start(source: String): Seq[CheckpointFact] = {
    val own   = startFile(source)
    val other = incumbentFile(source)
    checkpoint.text(own).map(t =>
      positions(source, own, "start", None)(StreamStart.parse(t, checkpoint.place(own)).offset)
    )
      .orElse(incumbentStart(source).filterNot(isForeign).map(t =>
        positions(source, other, "start", None)(PulsarOffset.parseIncumbentStart(t, checkpoint.place(other)))
      )).getOrElse(Nil)
  }

  private def startKind(source: String): Option[String] =
    checkpoint.text(startFile(source)).orElse(incumbentStart(source)).flatMap(PulsarOffset.writer)

  private def incumbentStart(source: String): Option[String] =
    checkpoint.text(incumbentFile(source)).map(PulsarOffset.logContent)

  private def isForeign(json: String) =
    PulsarOffset.writer(json).fold(Try(mapper.readTree(json)).isSuccess)(!_.contains("pulsar-spark"))

  private def losses(source: String): Seq[CheckpointFact] =
    checkpoint.names(s"sources/$source/losses").filter(_.endsWith(".json")).flatMap { name =>
      val file = s"sources/$source/losses/$name"
      Try(mapper.readTree(checkpoint.text(file).getOrElse("")).elements.asScala.toSeq).toOption.filter(_.nonEmpty).fold(
        Seq(damaged(file, "it is not a list of losses", source = Some(source)))
      )(_.map { loss =>
        def text(field: String) = loss.path(field).asText
        CheckpointFact(
          "loss",
          Some(source),
          topic = Some(text("topic")),
          position = Some(text("to")),
          detail = Some(s"${text("condition")}: messages after ${text("from")} were skipped: ${text("reason")}")
        )
      })
    }
}

private object CheckpointFacts {
  private val mapper  = new ObjectMapper
  private val Own     = "pulsar-spark,"
  private val Unknown = "unknown"

  private def startFile(source: String)     = s"sources/$source/initial-offset.json"
  private def incumbentFile(source: String) = s"sources/$source/0"

  private def span(batches: Seq[Long]) = batches match {
    case Nil      => "none"
    case Seq(one) => s"micro-batch $one"
    case several  => s"micro-batches ${several.head} to ${several.last}"
  }
}
