package io.github.pulsarspark.read

import scala.util.Random

import io.github.pulsarspark.cluster.{ClientView, Found, RandomTopic, StoredTopic, TopicEntry}
import io.github.pulsarspark.position.{Interval, Position, PruningBounds}

/** A read of a topic partition.
  *
  * @param bounds
  *   on the messages, by filters
  * @param limit
  *   rows after which the read may stop
  * @param stream
  *   the run of a stream whose micro-batch this is
  * @param isCount
  *   whether nothing of the messages is selected but where they are
  */
private[read] final case class LevelQuery(
    from: Position,
    to: Position,
    failOnDataLoss: Boolean = true,
    bounds: PruningBounds = PruningBounds.Everything,
    limit: Option[Int] = None,
    stream: Option[String] = None,
    isCount: Boolean = false,
    options: Map[String, String] = Map.empty
) {

  /** Result of Pulsar's client for this read. */
  def expected(topic: StoredTopic): Found = {
    val found = ClientView(topic, from, to, failOnDataLoss,
      (time, entry) =>
        in(bounds.times, time) && in(bounds.ledgers, entry.ledgerId) && in(bounds.entries, entry.entryId))
    if (isCount) found.copy(rows = found.rows.map { case (place, _) => place.wholeEntry -> None }) else found
  }

  private def in(interval: Interval, value: Long) = interval.fromInclusive <= value && value < interval.toExclusive

  /** Describes how a read differs from its expected result; None when it does not. Tasks of a batch run in any order,
    * so before an error any rows of the range may come, and a limit may end the read before what is counted.
    */
  def difference(expected: Found, found: Found): Option[String] = {
    val isCut   = limit.exists(_ <= expected.rows.size)
    val wanted  = limit.fold(expected.rows)(expected.rows.take(_))
    val strange = found.rows.diff(expected.rows)
    if (found.error.nonEmpty || expected.error.nonEmpty && !isCut)
      Option.unless(found.error == expected.error)(s"error ${found.error}, expected ${expected.error}")
    else if (strange.nonEmpty) Some(s"strange rows $strange\nexpected ${expected.rows}")
    else if (found.rows.size != wanted.size) Some(s"missing rows ${wanted.diff(found.rows)}")
    else if (stream.nonEmpty && found.rows != wanted) Some(s"rows in the order ${found.rows.map(_._1)}")
    else if (isCut) None
    else
      Option.unless((found.lost, found.incomplete) == ((expected.lost, expected.incomplete)))(
        s"lost ${found.lost}, incomplete ${found.incomplete}, expected ${expected.lost} and ${expected.incomplete}"
      )
  }
}

private[read] object LevelQuery {

  /** Queries of a range of the topic: one, or the micro-batches of a stream. */
  def random(dice: Random, topic: RandomTopic): Seq[LevelQuery] = {
    val (from, to) = topic.range(dice)
    val query      = LevelQuery(from, to, dice.nextBoolean(),
      options =
        Map("readAheadBytes" -> oneOf(dice, "1", "2k", "16m"), "minPartitions" -> oneOf(dice, "1", "3")))
    dice.nextInt(6) match {
      case 0                                 => Seq(query.copy(limit = Some(1 + dice.nextInt(9))))
      case 1                                 => Seq(query.copy(isCount = true))
      case 2 if mayFilter(topic.topic, from) => Seq(query.copy(bounds = bounds(dice, topic.topic)))
      case 3 | 4                             =>
        val cuts = (from +: dice.shuffle(topic.ends(from, to)).take(dice.nextInt(3)).sorted) :+ to
        val run  = s"run-${dice.nextLong()}"
        cuts.zip(cuts.tail).map { case (from, to) =>
          query.copy(from = from, to = to, stream = Some(run), options = query.options - "minPartitions")
        }
      case _ => Seq(query)
    }
  }

  /** Filters may skip what is lost or damaged. */
  private def mayFilter(topic: StoredTopic, from: Position): Boolean =
    from.ledgerId >= topic.ledgers.head.id && !topic.entries.exists(_.kind == TopicEntry.Damaged)

  private def bounds(dice: Random, topic: StoredTopic): PruningBounds = {
    val some = topic.entries(dice.nextInt(topic.entries.size))
    val more = Interval(some.at.entryId, some.at.entryId + 1 + dice.nextInt(3))
    dice.nextInt(3) match {
      case 0 => PruningBounds(times = Interval(some.publishTime, some.publishTime + 1 + dice.nextInt(4)))
      case 1 => PruningBounds(ledgers = Interval(some.at.ledgerId, some.at.ledgerId + 1 + dice.nextInt(3)))
      case _ => PruningBounds(ledgers = Interval(some.at.ledgerId, some.at.ledgerId + 1), entries = more)
    }
  }

  private def oneOf(dice: Random, choices: String*) = choices(dice.nextInt(choices.size))
}
