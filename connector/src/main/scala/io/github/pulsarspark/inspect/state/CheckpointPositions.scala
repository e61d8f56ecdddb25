package io.github.pulsarspark.inspect.state

import org.apache.hadoop.conf.Configuration

import io.github.pulsarspark.errors.Conditions
import io.github.pulsarspark.position.Position

/** Positions up to which the query of a checkpoint has read, in all of its sources that read Pulsar. */
private[inspect] object CheckpointPositions {

  /** The positions by topic partition: those of the newest micro-batch that is committed, else those of the start.
    * Where several sources read a partition, that of the one that is furthest behind. Fails if a file is damaged, and
    * if no source has a position in Pulsar.
    */
  def of(path: String, conf: Configuration): Map[String, Position] = {
    val facts = new CheckpointFacts(Checkpoint(path, conf)).all
    facts.find(_.record == "damaged").foreach(fact =>
      throw Conditions.CheckpointMalformed(where = path, why = fact.detail.getOrElse("a file is damaged")).exception
    )
    val found = facts.groupBy(_.source).values.toSeq.flatMap { source =>
      val committed = positions(source, "committed")
      if (committed.isEmpty) positions(source, "start") else committed
    }
    if (found.isEmpty) throw nothing(path, facts)
    found.groupMapReduce(_._1)(_._2)((one, other) => if (one < other) one else other)
  }

  private def positions(facts: Seq[CheckpointFact], record: String): Seq[(String, Position)] =
    facts.filter(_.record == record).flatMap(f => f.topic.zip(f.position.flatMap(Position.parse)))

  private def nothing(path: String, facts: Seq[CheckpointFact]) = {
    val foreign = for {
      fact   <- facts if fact.topic.isEmpty
      source <- fact.kind
      offset <- fact.detail
    } yield Conditions.CheckpointForeign(where = path, source = source, offset = offset).exception
    foreign.headOption.getOrElse(
      Conditions.CheckpointWithoutPosition(path = path, topic = "Pulsar",
        why = "its query has planned no micro-batch").exception
    )
  }
}
