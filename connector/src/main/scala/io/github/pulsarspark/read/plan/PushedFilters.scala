package io.github.pulsarspark.read.plan

import org.apache.spark.sql.connector.expressions.{Expression, Literal, NamedReference}
import org.apache.spark.sql.connector.expressions.filter.Predicate
import org.apache.spark.sql.types.{IntegerType, LongType, StringType, TimestampType}
import org.apache.spark.unsafe.types.UTF8String

import io.github.pulsarspark.position.{Interval, Position, PruningBounds}
import io.github.pulsarspark.pulsar.topics.TopicNames
import io.github.pulsarspark.schema.columns.MetadataColumns.{AtPosition, EntryId, LedgerId, Partition, PublishTime, Topic}

/** A query's filters on `__topic`, `__partition`, `__publishTime` and the position of a message, to read less. Spark
  * applies all filters to every row again, so the bounds here may accept too much, never too little. Pure.
  *
  * @param predicates
  *   the useful ones, all of which a row must pass
  */
private[pulsarspark] final class PushedFilters private (
    val predicates: Seq[Predicate],
    rules: Seq[PushedFilters.Rule]
) {

  /** Bounds on the messages of a topic partition that can pass.
    *
    * @param topic
    *   full name of the partition, or of a topic without partitions
    */
  def bounds(topic: String): PruningBounds = bounds(topic, TopicNames.partitionIndex(topic))

  /** @param partition
    *   -1 for a topic without partitions
    */
  private[plan] def bounds(topic: String, partition: Int): PruningBounds = {
    val place = PushedFilters.Place(UTF8String.fromString(topic), Option.when(partition >= 0)(partition))
    rules.foldLeft(PruningBounds.Everything)((bounds, rule) => bounds.intersect(rule(place).whenTrue))
  }
}

private[pulsarspark] object PushedFilters {

  val none: PushedFilters = new PushedFilters(Nil, Nil)

  def apply(predicates: Seq[Predicate]): PushedFilters = {
    val (useful, rules) = predicates.flatMap(p => rule(p).map(p -> _)).unzip
    new PushedFilters(useful, rules)
  }

  private final case class Place(topic: UTF8String, partition: Option[Int])

  private type Rule = Place => PredicateBounds

  /** Compiles a condition; None if it has no bounds. */
  private def rule(condition: Expression): Option[Rule] = condition match {
    case Call("NOT", Seq(one)) => rule(one).map(r => r(_).not)
    case Call("AND", sides)    =>
      val known              = sides.flatMap(rule)
      val unknown: Seq[Rule] = if (known.size < sides.size) Seq(_ => PredicateBounds.Unknown) else Nil
      if (known.isEmpty) None else combined(known ++ unknown)(_ and _)
    case Call("OR", sides) =>
      val known = sides.flatMap(rule)
      if (known.size == sides.size) combined(known)(_ or _) else None
    case Call("IN", Column(name) +: values) =>
      val equal = values.flatMap(comparison(name, "=", _))
      if (values.nonEmpty && equal.size == values.size) combined(equal)(_ or _) else None
    case Call("IS_NULL", Seq(Column(name)))       => isNull(name)
    case Call("IS_NOT_NULL", Seq(Column(name)))   => isNull(name).map(r => r(_).not)
    case Call(operator, Seq(Column(name), value)) => comparison(name, operator, value)
    case Call(operator, Seq(value, Column(name))) => Mirrored.get(operator).flatMap(comparison(name, _, value))
    case _                                        => None
  }

  private def combined(rules: Seq[Rule])(join: (PredicateBounds, PredicateBounds) => PredicateBounds): Option[Rule] =
    rules.reduceOption((a, b) => place => join(a(place), b(place)))

  private def isNull(column: String): Option[Rule] = column match {
    case Topic.name | PublishTime.name | AtPosition.name | LedgerId.name | EntryId.name =>
      Some(_ => PredicateBounds.False)
    case Partition.name => Some(place => PredicateBounds.of(place.partition.isEmpty))
    case _              => None
  }

  private def comparison(column: String, operator: String, value: Expression): Option[Rule] = (column, value) match {
    case (Topic.name, Text(value))       => topic(operator, value)
    case (Partition.name, Number(value)) =>
      signs(operator).map(matches =>
        _.partition match {
          case Some(partition)           => PredicateBounds.of(matches(Integer.compare(partition, value)))
          case None if operator == "<=>" => PredicateBounds.False
          case None                      => PredicateBounds.Null
        }
      )
    case (PublishTime.name, Micros(value)) => publishTime(operator, value).map(bounds => _ => bounds)
    case (LedgerId.name, Id(value))        =>
      number(operator, value, after(value), n => PruningBounds(ledgers = n)).map(bounds => _ => bounds)
    case (EntryId.name, Id(value)) =>
      number(operator, value, after(value), n => PruningBounds(entries = n)).map(bounds => _ => bounds)
    case (AtPosition.name, Text(value)) => position(operator, value.toString).map(bounds => _ => bounds)
    case _                              => None
  }

  private def topic(operator: String, value: UTF8String): Option[Rule] = operator match {
    case "STARTS_WITH" => Some(place => PredicateBounds.of(place.topic.startsWith(value)))
    case "ENDS_WITH"   => Some(place => PredicateBounds.of(place.topic.endsWith(value)))
    case "CONTAINS"    => Some(place => PredicateBounds.of(place.topic.contains(value)))
    case other => signs(other).map(matches => place => PredicateBounds.of(matches(place.topic.binaryCompare(value))))
  }

  /** Publish times are whole milliseconds, times in queries microseconds. */
  private def publishTime(operator: String, micros: Long): Option[PredicateBounds] =
    number(operator, -Math.floorDiv(-micros, 1000L), Math.floorDiv(micros, 1000L) + 1, n => PruningBounds(times = n))

  /** @param upTo
    *   the first number that is not less than the one to compare with
    * @param after
    *   the first that is greater
    * @param in
    *   turns an interval of numbers into bounds
    */
  private def number(
      operator: String,
      upTo: Long,
      after: Long,
      in: Interval => PruningBounds
  ): Option[PredicateBounds] = operator match {
    case "<"         => Some(PredicateBounds.below(upTo, in))
    case ">="        => Some(PredicateBounds.below(upTo, in).not)
    case "<="        => Some(PredicateBounds.below(after, in))
    case ">"         => Some(PredicateBounds.below(after, in).not)
    case "=" | "<=>" => Some(PredicateBounds.within(in(Interval(upTo, after))))
    case "<>"        => Some(PredicateBounds.within(in(Interval(upTo, after))).not)
    case _           => None
  }

  private def after(id: Long): Long = if (id == Long.MaxValue) id else id + 1

  /** Positions are texts, whose order differs from that of messages. So only equality gives bounds; each position has
    * one text.
    */
  private def position(operator: String, text: String): Option[PredicateBounds] = {
    val equal = Position.parse(text).filter(_.toString == text) match {
      case Some(p) =>
        PredicateBounds.within(
          PruningBounds(ledgers = Interval(p.ledgerId, p.ledgerId + 1), entries = Interval(p.entryId, p.entryId + 1))
        )
      case None => PredicateBounds.False
    }
    operator match {
      case "=" | "<=>" => Some(equal)
      case "<>"        => Some(equal.not)
      case _           => None
    }
  }

  /** Test of a comparison by the sign of left minus right; None for another operator. */
  private def signs(operator: String): Option[Int => Boolean] = operator match {
    case "=" | "<=>" => Some(_ == 0)
    case "<>"        => Some(_ != 0)
    case "<"         => Some(_ < 0)
    case "<="        => Some(_ <= 0)
    case ">"         => Some(_ > 0)
    case ">="        => Some(_ >= 0)
    case _           => None
  }

  private val Mirrored =
    Map("=" -> "=", "<=>" -> "<=>", "<>" -> "<>", "<" -> ">", "<=" -> ">=", ">" -> "<", ">=" -> "<=")

  private object Call {
    def unapply(e: Expression): Option[(String, Seq[Expression])] = e match {
      case p: Predicate => Some((p.name, p.children.toSeq))
      case _            => None
    }
  }

  private object Column {
    def unapply(e: Expression): Option[String] = e match {
      case r: NamedReference if r.fieldNames.length == 1 => Some(r.fieldNames.head)
      case _                                             => None
    }
  }

  // Values as Spark has them inside. Null is left to Spark.

  private object Text {
    def unapply(e: Expression): Option[UTF8String] = literal(e).collect { case (StringType, text: UTF8String) => text }
  }

  private object Number {
    def unapply(e: Expression): Option[Int] = literal(e).collect { case (IntegerType, number: Int) => number }
  }

  private object Id {
    def unapply(e: Expression): Option[Long] = literal(e).collect { case (LongType, id: Long) => id }
  }

  private object Micros {
    def unapply(e: Expression): Option[Long] = literal(e).collect { case (TimestampType, micros: Long) => micros }
  }

  private def literal(e: Expression) = e match {
    case l: Literal[_] => Some((l.dataType, l.value: Any))
    case _             => None
  }
}
