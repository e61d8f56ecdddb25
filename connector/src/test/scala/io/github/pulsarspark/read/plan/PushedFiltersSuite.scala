package io.github.pulsarspark.read.plan

import org.apache.spark.sql.connector.expressions.{Expression, Expressions, Literal}
import org.apache.spark.sql.connector.expressions.filter.Predicate
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String
import org.scalacheck.Gen
import org.scalacheck.Prop._

import io.github.pulsarspark.PropertySuite
import io.github.pulsarspark.position.{Interval, Position, PruningBounds}

private final case class FilterValue[A](value: A, dataType: DataType) extends Literal[A] {
  override def toString: String = value match {
    case text: UTF8String => s"'$text'"
    case other            => s"$other"
  }
}

/** Fields of a message that a filter sees; `value` is one that the connector does not know. */
private final case class FilteredRow(topic: String, partition: Int, millis: Long, at: Position, value: Option[Int])

class PushedFiltersSuite extends PropertySuite(1500) {

  private val t     = "persistent://public/default/t"
  private val never = Interval.Never

  private def text(value: String)                       = FilterValue(UTF8String.fromString(value), StringType)
  private def micros(value: Long)                       = FilterValue(value, TimestampType)
  private def long(value: Long)                         = FilterValue(value, LongType)
  private def number(value: Int)                        = FilterValue(value, IntegerType)
  private def column(name: String)                      = Expressions.column(name)
  private def call(name: String, children: Expression*) = new Predicate(name, children.toArray)
  private def bounds(filters: PushedFilters, topic: String, partition: Int) =
    Some(filters.bounds(topic, partition)).filterNot(_.isEmpty).fold(never)(_.times)
  private def times(topic: String, conditions: Predicate*) = bounds(PushedFilters(conditions), topic, topic.last - '0')

  private val topic     = column("__topic")
  private val partition = column("__partition")
  private val published = column("__publishTime")
  private val position  = column("__position")
  private val ledger    = column("__ledgerId")
  private val entry     = column("__entryId")
  private val other     = call("=", column("value"), number(1))

  private def only(bounds: Interval)(conditions: Predicate*): Unit =
    assertEquals(times(s"$t-partition-1", conditions: _*), bounds)

  test("filters on publish time become exact bounds in milliseconds") {
    only(Interval(fromInclusive = 5))(call(">=", published, micros(5000)))
    only(Interval(fromInclusive = 6))(call(">", published, micros(5000)))
    only(Interval(fromInclusive = 6))(call(">=", published, micros(5001)))
    only(Interval(fromInclusive = 6))(call(">", published, micros(5999)))
    only(Interval(toExclusive = 5))(call("<", published, micros(5000)))
    only(Interval(toExclusive = 6))(call("<=", published, micros(5000)))
    only(Interval(toExclusive = 6))(call("<", published, micros(5001)))
    only(Interval(fromInclusive = -1))(call(">=", published, micros(-1999)))
    only(Interval(5, 6))(call("=", published, micros(5000)))
    assert(times(t + "0", call("=", published, micros(5001))).isEmpty)
    only(Interval(5, 9))(call(">=", published, micros(5000)), call(">", micros(9000), published))
    only(Interval(5, 10))(call("IN", published, micros(9000), micros(5000)))
  }

  test("a partition that no row can pass has empty bounds") {
    assertEquals(times(s"$t-partition-1", call("=", partition, number(1))), Interval.Always)
    assertEquals(times(s"$t-partition-2", call("=", partition, number(1))), never)
    assertEquals(times(s"$t-partition-2", call("=", topic, text(s"$t-partition-2"))), Interval.Always)
    assertEquals(times(s"$t-partition-2", call("ENDS_WITH", topic, text("-1"))), never)
    assertEquals(bounds(PushedFilters(Seq(call(">", partition, number(-1)))), t, -1), never, "null is not greater")
    assertEquals(PushedFilters(Seq(call("IS_NULL", partition))).bounds(t, -1), PruningBounds.Everything)
  }

  private def places(conditions: Predicate*) = {
    val bounds = PushedFilters(conditions).bounds(t, -1)
    (bounds.ledgers, bounds.entries)
  }

  test("filters on ledger and entry ids become bounds") {
    assertEquals(places(call("=", ledger, long(7))), (Interval(7, 8), Interval.Always))
    assertEquals(places(call("<", ledger, long(7)), call(">=", entry, long(3))),
      (Interval(toExclusive = 7), Interval(fromInclusive = 3)))
    assertEquals(places(call(">", long(7), ledger), call("IN", entry, long(3), long(9))),
      (Interval(toExclusive = 7), Interval(3, 10)))
    assertEquals(places(call("<=", entry, long(Long.MaxValue))), (Interval.Always, Interval.Always))
    assert(PushedFilters(Seq(call("=", ledger, long(1)), call("=", ledger, long(2)))).bounds(t, -1).isEmpty)
    assert(PushedFilters(Seq(call("IS_NULL", ledger))).bounds(t, -1).isEmpty)
  }

  test("a filter on position selects its entry; a text that is no position selects nothing") {
    assertEquals(places(call("=", position, text("7:3"))), (Interval(7, 8), Interval(3, 4)))
    assertEquals(places(call("IN", position, text("7:3:1"), text("7:9"), text("8:4:0"))),
      (Interval(7, 9), Interval(3, 10)))
    assertEquals(places(call("IN", position, text("7:3:1"), text("x"))), (Interval(7, 8), Interval(3, 4)))
    for (wrong <- Seq("07:3", "7:3:-1", " 7:3", "7", "", "earliest"))
      assert(PushedFilters(Seq(call("=", position, text(wrong)))).bounds(t, -1).isEmpty, wrong)
    assertEquals(places(call("<>", position, text("7:3"))), (Interval.Always, Interval.Always))
    assertEquals(places(call("NOT", call("=", position, text("7:3")))), (Interval.Always, Interval.Always))
  }

  test("a filter with alternatives by partition, bounds of each partition alone") {
    val condition = call(
      "OR",
      call("AND", call("=", partition, number(1)), call("<", published, micros(7000))),
      call("AND", call("=", partition, number(2)), call(">=", published, micros(9000)))
    )
    assertEquals(times("t-1", condition), Interval(toExclusive = 7))
    assertEquals(times("t-2", condition), Interval(fromInclusive = 9))
    assertEquals(times("t-3", condition), never)
    assertEquals(times("t-3", call("NOT", condition)), Interval.Always)
  }

  test("conditions on other columns are not pushed") {
    val useless = Seq(
      other,
      call("OR", other, call("=", partition, number(1))),
      call("<", position, text("1:2")),
      call("STARTS_WITH", position, text("1:")),
      call("=", ledger, number(1)),
      call("=", published, FilterValue(5L, LongType)),
      call("=", topic, FilterValue(null, StringType)),
      call("=", topic, FilterValue(UTF8String.fromString("t"), StringType("UTF8_LCASE"))),
      call("=", column("value.__topic"), text("t")),
      call("LIKE", topic, text("t")),
      call("ALWAYS_FALSE")
    )
    assertEquals(PushedFilters(useless).predicates, Nil)
    val mixed = call("AND", other, call("=", partition, number(1)))
    assertEquals(PushedFilters(useless :+ mixed).predicates, Seq(mixed))
    assertEquals(times("t-2", mixed), never)
    assertEquals(times("t-2", call("NOT", mixed)), Interval.Always)
  }

  private val positions = Gen.zip(Gen.choose(0L, 3L), Gen.choose(0L, 3L), Gen.choose(-1, 2)).map { case (l, e, b) =>
    Position(l, e, b)
  }

  private val rows = for {
    partition <- Gen.choose(-1, 3)
    millis    <- Gen.choose(-3L, 12L)
    at        <- positions
    value     <- Gen.option(Gen.choose(0, 2))
  } yield FilteredRow(if (partition < 0) t else s"$t-partition-$partition", partition, millis, at, value)

  private val operators = Gen.oneOf("=", "<=>", "<>", "<", "<=", ">", ">=")

  private val sides = Gen.oneOf(
    Gen.choose(-1, 4).map(n => (partition, number(n))),
    Gen.oneOf(t, s"$t-partition-1", s"$t-partition-3", "x").map(s => (topic, text(s))),
    Gen.choose(-4000L, 13000L).map(n => (published, micros(n))),
    Gen.oneOf(-1000L, 0L, 5000L, 11000L).map(n => (published, micros(n))),
    Gen.choose(-1L, 4L).map(n => (ledger, long(n))),
    Gen.choose(-1L, 4L).map(n => (entry, long(n))),
    Gen.oneOf(positions.map(_.toString), Gen.oneOf("x", "01:1")).map(s => (position, text(s))),
    Gen.choose(0, 2).map(n => (column("value"), number(n)))
  )

  private val leaves: Gen[Predicate] = Gen.oneOf(
    Gen.zip(operators, sides).map { case (operator, (left, right)) => call(operator, left, right) },
    Gen.zip(operators, sides).map { case (operator, (left, right)) => call(operator, right, left) },
    Gen.nonEmptyListOf(Gen.choose(-4000L, 13000L)).map(values => call("IN", published +: values.map(micros): _*)),
    Gen.nonEmptyListOf(Gen.choose(-1, 4)).map(values => call("IN", partition +: values.map(number): _*)),
    Gen.nonEmptyListOf(Gen.choose(-1L, 4L)).map(values => call("IN", ledger +: values.map(long): _*)),
    Gen.nonEmptyListOf(positions).map(values => call("IN", position +: values.map(p => text(p.toString)): _*)),
    Gen.zip(Gen.oneOf("IS_NULL", "IS_NOT_NULL"), Gen.oneOf(topic, partition, published, position, ledger, entry)).map {
      case (name, c) =>
        call(name, c)
    },
    Gen.zip(Gen.oneOf("STARTS_WITH", "ENDS_WITH", "CONTAINS"), Gen.oneOf(t, "-1", "partition", "x")).map {
      case (name, s) =>
        call(name, topic, text(s))
    }
  )

  private def conditions(depth: Int): Gen[Predicate] =
    if (depth == 0) leaves
    else
      Gen.oneOf(
        leaves,
        conditions(depth - 1).map(call("NOT", _)),
        Gen.zip(Gen.oneOf("AND", "OR"), conditions(depth - 1), conditions(depth - 1)).map { case (name, a, b) =>
          call(name, a, b)
        }
      )

  /** SQL's logic, by the book. */
  private def holds(condition: Expression, row: FilteredRow): Option[Boolean] = condition match {
    case p: Predicate => (p.name, p.children.toSeq) match {
        case ("NOT", Seq(a))    => holds(a, row).map(!_)
        case ("AND", Seq(a, b)) => (holds(a, row), holds(b, row)) match {
            case (Some(false), _) | (_, Some(false)) => Some(false)
            case (x, y)                              => x.flatMap(_ => y)
          }
        case ("OR", Seq(a, b)) => (holds(a, row), holds(b, row)) match {
            case (Some(true), _) | (_, Some(true)) => Some(true)
            case (x, y)                            => x.flatMap(_ => y)
          }
        case ("IS_NULL", Seq(a))     => Some(value(a, row).isEmpty)
        case ("IS_NOT_NULL", Seq(a)) => Some(value(a, row).nonEmpty)
        case ("IN", a +: list)       => value(a, row).map(x => list.exists(value(_, row).contains(x)))
        case ("STARTS_WITH", pair)   => Some(texts(pair, row)(_.startsWith(_)))
        case ("ENDS_WITH", pair)     => Some(texts(pair, row)(_.endsWith(_)))
        case ("CONTAINS", pair)      => Some(texts(pair, row)(_.contains(_)))
        case ("<=>", Seq(a, b))      => Some(value(a, row) == value(b, row))
        case (operator, Seq(a, b))   =>
          for {
            x <- value(a, row)
            y <- value(b, row)
          } yield {
            val sign = (x, y) match {
              case (x: BigInt, y: BigInt) => x.compare(y)
              case _                      => x.toString.compareTo(y.toString)
            }
            operator match {
              case "="  => sign == 0
              case "<>" => sign != 0
              case "<"  => sign < 0
              case "<=" => sign <= 0
              case ">"  => sign > 0
              case ">=" => sign >= 0
            }
          }
        case wrong => fail(s"not expected: $wrong")
      }
    case wrong => fail(s"not expected: $wrong")
  }

  private def texts(pair: Seq[Expression], row: FilteredRow)(test: (String, String) => Boolean): Boolean =
    test(value(pair.head, row).get.toString, value(pair(1), row).get.toString)

  private def value(e: Expression, row: FilteredRow): Option[Any] = e match {
    case l: Literal[_] => l.value match {
        case n: Int  => Some(BigInt(n))
        case n: Long => Some(BigInt(n))
        case text    => Some(text.toString)
      }
    case c => c.toString match {
        case "__topic"       => Some(row.topic)
        case "__partition"   => Option.when(row.partition >= 0)(BigInt(row.partition))
        case "__publishTime" => Some(BigInt(row.millis) * 1000)
        case "__position"    => Some(row.at.toString)
        case "__ledgerId"    => Some(BigInt(row.at.ledgerId))
        case "__entryId"     => Some(BigInt(row.at.entryId))
        case "value"         => row.value.map(BigInt(_))
      }
  }

  private def keeps(pushed: PushedFilters, row: FilteredRow): Boolean =
    pushed.bounds(row.topic, row.partition).contains(row.millis, row.at.ledgerId, row.at.entryId)

  property("no row that passes the filters is skipped") {
    forAll(Gen.listOfN(2, conditions(3)), Gen.listOfN(20, rows)) { (filters, messages) =>
      val pushed = PushedFilters(filters)
      messages.filter(row => filters.forall(holds(_, row).contains(true))).foreach { row =>
        assert(keeps(pushed, row), s"$row by $filters")
      }
    }
  }

  property("filters on these columns alone, joined by AND, skip every row that fails") {
    val known = leaves.filterNot(p =>
      p.toString.contains("value") || p.toString.contains("__position") || Set("<>", "IN")(p.name)
    )
    forAll(Gen.listOfN(2, known), Gen.listOfN(20, rows)) { (filters, messages) =>
      val pushed = PushedFilters(filters)
      messages.filter(keeps(pushed, _)).foreach { row =>
        assert(filters.forall(holds(_, row).contains(true)), s"$row by $filters")
      }
    }
  }
}
