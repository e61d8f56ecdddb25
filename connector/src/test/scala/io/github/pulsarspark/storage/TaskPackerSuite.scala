package io.github.pulsarspark.storage

import org.scalacheck.Gen
import org.scalacheck.Prop._

import io.github.pulsarspark.PropertySuite
import io.github.pulsarspark.format.Tier
import io.github.pulsarspark.position.{OffsetRange, Position}
import io.github.pulsarspark.storage.segment.{SegmentLocation, Slice}

class TaskPackerSuite extends PropertySuite {

  private def place(tier: Tier) = new SegmentLocation {
    override def level: Tier                     = tier
    override def hosts(entry: Long): Seq[String] = Nil
  }

  private def slice(
      ledger: Long,
      entries: Long,
      entryBytes: Long = 100,
      tier: Tier = Tier.Bookies,
      topic: String = "t"
  ): Slice = {
    val range = OffsetRange(topic, Position(ledger, -1), Position(ledger, entries - 1))
    if (tier == Tier.Broker) Slice.ByBroker(range) else Slice.Direct(range, place(tier), entries * entryBytes)
  }

  private def renamed(slice: Slice, topic: String): Slice = slice match {
    case s: Slice.ByBroker => s.copy(range = s.range.copy(topic = topic))
    case s: Slice.Direct   => Slice.Direct(s.range.copy(topic = topic), s.location, s.bytes)
  }

  private def shown(tasks: Seq[Seq[Slice]]): Seq[String] =
    tasks.map(_.map(s => s.segment.fold("broker")(g => s"${g.ledgerId}:${g.first}-${g.last}")).mkString(" "))

  private def bytes(task: Seq[Slice]): Long = task.map(_.bytes).sum

  test("tasks get as many bytes as keeps the cluster busy, all of one size") {
    val mb = 1L << 20
    assertEquals(TaskPacker.taskBytes(1024 * mb, 128 * mb, None, 4), 128 * mb)
    assertEquals(TaskPacker.taskBytes(1000 * mb, 128 * mb, None, 4), 125 * mb)
    assertEquals(TaskPacker.taskBytes(100 * mb, 128 * mb, None, 4), 25 * mb)
    assertEquals(TaskPacker.taskBytes(9 * mb, 128 * mb, None, 4), 3 * mb)
    assertEquals(TaskPacker.taskBytes(mb, 128 * mb, None, 4), mb)
    assertEquals(TaskPacker.taskBytes(mb, 128 * mb, Some(4), 2), mb / 4)
    assertEquals(TaskPacker.taskBytes(0, 128 * mb, Some(4), 2), 1L)
  }

  test("a read has no more than 100,000 tasks, however small they are to be") {
    assertEquals(TaskPacker.taskBytes(10000000L, 1, None, 4), 100L)
    assertEquals(TaskPacker.taskBytes(10000001L, 1, None, 4), 101L)
    val slices = (1L to 4L).map(slice(_, 40000, 1))
    assertEquals(TaskPacker.tasks(slices, TaskPacker.taskBytes(bytes(slices), 1, None, 4)).size, 80000)
  }

  test("ledgers are cut where a task is full, so that tasks have one size") {
    val ledgers = (1L to 10L).map(slice(_, 100))
    val tasks   = TaskPacker.tasks(ledgers, TaskPacker.taskBytes(100000, 1 << 20, Some(4), 4))
    assertEquals(shown(tasks),
      Seq(
        "1:0-99 2:0-99 3:0-49",
        "3:50-99 4:0-99 5:0-99",
        "6:0-99 7:0-99 8:0-49",
        "8:50-99 9:0-99 10:0-99"
      ))
    assertEquals(tasks.map(bytes), Seq.fill(4)(25000L))
    val pieces = tasks.flatten.filter(_.range.startExclusive.ledgerId == 3).map(_.range)
    assertEquals(pieces,
      Seq(
        OffsetRange("t", Position(3, -1), Position(3, 49)),
        OffsetRange("t", Position(3, 49), Position(3, 99))
      ))
  }

  test("what is left of a task for less than an entry goes to the next one") {
    assertEquals(shown(TaskPacker.tasks(Seq(slice(1, 5)), 125)), Seq("1:0-0", "1:1-1", "1:2-2", "1:3-4"))
    assertEquals(shown(TaskPacker.tasks(Seq(slice(1, 2), slice(2, 1, 1000)), 150)), Seq("1:0-0", "1:1-1", "2:0-0"))
  }

  test("what the broker reads is a task by itself and is not cut") {
    val slices = Seq(slice(1, 1), slice(2, 100, tier = Tier.Broker), slice(3, 1), slice(4, 1))
    assertEquals(shown(TaskPacker.tasks(slices, 200)), Seq("1:0-0", "broker", "3:0-0 4:0-0"))
  }

  test("in order, a topic partition is read by one task, and small ones share a task") {
    def of(topic: String, slices: Slice*) = slices.map(renamed(_, topic))
    val tail                              = slice(9, 5, tier = Tier.Broker)
    val slices                            = of("a", slice(1, 500), slice(2, 500), tail) ++ of("b", slice(3, 1)) ++
      of("c", slice(4, 1)) ++ of("d", slice(5, 1), tail) ++ of("e", slice(6, 900), slice(7, 900))
    assertEquals(shown(TaskPacker.inOrder(slices, 1000)),
      Seq("1:0-499 2:0-499 broker", "3:0-0 4:0-0", "5:0-0 broker", "6:0-899 7:0-899"))
  }

  private lazy val partitions = for {
    topics <- Gen.choose(1, 6)
    all    <- Gen.listOfN(topics, ledgers)
    bytes  <- Gen.choose(1L, 6000L)
  } yield (
    all.zipWithIndex.flatMap { case ((slices, _, _), i) =>
      slices.map(renamed(_, s"t$i"))
    },
    bytes
  )

  property("in order, each topic partition is in one task, whole and in order") {
    forAll(partitions) { case (slices, size) =>
      val tasks = TaskPacker.inOrder(slices, size)
      assertEquals(tasks.flatten, slices)
      slices.map(_.range.topic).distinct.foreach(topic =>
        assertEquals(tasks.count(_.exists(_.range.topic == topic)), 1, topic)
      )
    }
  }

  test("an offloaded ledger that is not larger than a task stays whole") {
    val ledgers = (1L to 3L).map(slice(_, 60, tier = Tier.Tiered))
    assertEquals(shown(TaskPacker.tasks(ledgers, 10000)), Seq("1:0-59", "2:0-59", "3:0-59"))
    assertEquals(shown(TaskPacker.tasks(ledgers, 12000)), Seq("1:0-59 2:0-59", "3:0-59"))
  }

  test("a larger offloaded ledger is cut where its blocks begin, or anywhere when that is not known") {
    val ledger                         = Seq(slice(1, 100, tier = Tier.Tiered))
    def at(starts: Long*)(bytes: Long) = shown(TaskPacker.tasks(ledger, bytes, _ => starts))
    assertEquals(at(0, 30, 60, 90)(5000), Seq("1:0-29", "1:30-59", "1:60-99"))
    assertEquals(at(0, 30, 60, 90)(6000), Seq("1:0-59", "1:60-99"))
    assertEquals(at(0, 30, 60, 90)(1), Seq("1:0-29", "1:30-59", "1:60-89", "1:90-99"))
    assertEquals(at(0)(5000), Seq("1:0-49", "1:50-99"))
    assertEquals(at()(4000), Seq("1:0-39", "1:40-79", "1:80-99"))
  }

  private lazy val ledgers = for {
    count   <- Gen.choose(1, 12)
    entries <- Gen.listOfN(count, Gen.choose(1L, 60L))
    sizes   <- Gen.listOfN(count, Gen.choose(0L, 300L))
    tiers   <- Gen.listOfN(count, Gen.frequency(6 -> Tier.Bookies, 1 -> Tier.Broker, 2 -> Tier.Tiered))
    every   <- Gen.choose(1, 20)
    bytes   <- Gen.choose(1L, 6000L)
  } yield (
    entries.zip(sizes).zip(tiers).zipWithIndex.map { case (((n, size), tier), i) => slice(i + 1L, n, size, tier) },
    every,
    bytes
  )

  private def positions(slices: Seq[Slice]): Seq[Position] =
    slices.flatMap(s =>
      (s.range.startExclusive.entryId + 1 to s.range.endInclusive.entryId).map(
        Position(s.range.endInclusive.ledgerId, _)
      )
    )

  property("every entry is in one task, in order, and no byte is counted twice") {
    forAll(ledgers) { case (slices, every, size) =>
      val tasks = TaskPacker.tasks(slices, size, s => s.first to s.last by every.toLong)
      assertEquals(positions(tasks.flatten), positions(slices))
      assertEquals(tasks.map(bytes).sum, bytes(slices))
      tasks.flatten.foreach(s =>
        s.segment.foreach { g =>
          val range = Position(g.ledgerId, g.first - 1) -> Position(g.ledgerId, g.last)
          assertEquals(s.range.startExclusive -> s.range.endInclusive, range)
        }
      )
    }
  }

  property("a task has at most an entry more than its size; only an offloaded block may be larger") {
    forAll(ledgers) { case (slices, every, size) =>
      TaskPacker.tasks(slices, size, s => s.first to s.last by every.toLong).foreach { task =>
        val entry = task.flatMap(_.segment).map(g => g.bytes / (g.last - g.first + 1) + 1).maxOption.getOrElse(0L)
        assert(bytes(task) <= size + entry || task.size == 1 && task.head.level == Tier.Tiered, shown(Seq(task)))
      }
    }
  }

  property("ledgers on bookies make as many tasks as were planned, all of one size") {
    forAll(Gen.nonEmptyListOf(Gen.choose(1L, 60L)), Gen.choose(1, 20)) { (entries, wanted) =>
      val slices = entries.zipWithIndex.map { case (n, i) => slice(i + 1L, n) }
      val total  = bytes(slices)
      val count  = math.min(wanted.toLong, total / 100).toInt
      val tasks  = TaskPacker.tasks(slices, TaskPacker.taskBytes(total, Long.MaxValue, Some(count), 1))
      assertEquals(tasks.size, count)
      tasks.foreach(task => assert(math.abs(bytes(task) - total / count) <= 100, shown(tasks)))
    }
  }
}
