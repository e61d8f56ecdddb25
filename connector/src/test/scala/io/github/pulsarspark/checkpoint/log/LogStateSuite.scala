package io.github.pulsarspark.checkpoint.log

import java.util.UUID

import org.scalacheck.Gen
import org.scalacheck.Prop.forAll

import io.github.pulsarspark.PropertySuite

/** The log decides: what a store has is a function of its records, in which resent ones do not count. */
class LogStateSuite extends PropertySuite(samples = 300) {
  import LogStateSuite._

  test("every order of six records, and each of them resent at each later place") {
    for {
      order <- Six.permutations
      all = LogRecord(Writers.head, 1, 0, Change.Created(Store)) +: order.map { case (writer, change) =>
        LogRecord(UUID.nameUUIDFromBytes(Array(writer.toByte)), 1, 1, change)
      }
      plain = fold(all)
      again <- 1 until all.size
      place <- Seq(again + 1, all.size)
    } {
      val (before, after) = all.splitAt(place)
      assertEquals(fold((before :+ all(again)) ++ after).tree, plain.tree, order)
      assertEquals(files(plain.tree), model(order.map(_._2)), order)
    }
  }

  test("paths and folders in each other that would fill a stack are no record and no snapshot") {
    val deep = Seq.fill(100000)("d")
    for (
      change <- Seq(Change.MakeFolder(deep), Change.Rename(Seq("a"), deep, overwrite = true),
        Change.Delete(deep, recursive = true))
    )
      assertEquals(RecordFormat.parse(RecordFormat.bytes(LogRecord(Writers.head, 1, 1, change))), None)
    val start  = LogState.created(LogRecord(Writers.head, 1, 0, Change.Created(Store)), Store)
    val nested = (1 to 300).foldLeft(FolderNode.empty(1))((folder, _) => FolderNode.empty(1) + ("d", folder))
    assertEquals(SnapshotFormat.parse(SnapshotFormat.bytes(start.copy(tree = Tree(nested)))), None)
    val usual =
      start.copy(tree = Tree((1 to 100).foldLeft(FolderNode.empty(1))((f, _) => FolderNode.empty(1) + ("d", f))))
    assertEquals(SnapshotFormat.parse(SnapshotFormat.bytes(usual)), Some(usual))
  }

  property("random interleavings of three writers with resends: the model, and the same tree in each JVM") {
    forAll(logs) { log =>
      val state = fold(log)
      assertEquals(files(state.tree), model(distinct(log).map(_.change)))
      assertEquals(state.tree.root.bytes, files(state.tree).values.map(_.length.toLong).sum)
      assertEquals(fold(log), state)
    }
  }

  property("of several that create one file, the first in the log wins, and each learns whether it did") {
    forAll(logs) { log =>
      val outcomes = distinct(log).tail.scanLeft(start(log.head) -> Option.empty[(LogRecord, Outcome)]) {
        case ((state, _), record) =>
          val folded = state + record
          folded.state -> Some(record -> folded.outcome)
      }
      outcomes.zip(outcomes.drop(1)).foreach {
        case ((before, _), (after, Some((record, outcome)))) =>
          record.change match {
            case Change.Put(path, false, content: Content) =>
              val isFree = before.tree.find(path).isEmpty
              assertEquals(outcome, if (isFree) Outcome.Done else Outcome.Refused(Refusal.Exists))
              if (isFree) assertEquals(after.tree.find(path), Some(FileNode(content, record.time)))
              else assertEquals(after.tree, before.tree)
            case _ => ()
          }
        case _ => ()
      }
    }
  }

  property("a log that is read from any snapshot on has the state of the whole log") {
    forAll(logs, Gen.choose(0, 1000), Gen.choose(0, 5)) { (log, at, between) =>
      val (before, after) = log.splitAt(1 + at % log.size)
      val taker           = UUID.nameUUIDFromBytes(Array(99))
      val id              = UUID.nameUUIDFromBytes(Array(98))
      val begin           = LogRecord(taker, 1, 5, Change.SnapshotBegin(id))
      val records         = SnapshotFormat.changes(id, fold(before :+ begin), 40).zipWithIndex.map { case (change, i) =>
        LogRecord(taker, 2L + i, 5, change)
      }
      val mixed = begin +: records.zipAll(after.take(between), records.last, after.headOption.getOrElse(records.last))
        .flatMap { case (one, other) => if (after.isEmpty) Seq(one) else Seq(one, other) }
      val suffix = mixed ++ after
      val found  = suffix.foldLeft[Either[LogReplay, LogState]](Left(LogReplay())) {
        case (Left(replay), record) => replay + record
        case (Right(state), record) => Right((state + record).state)
      }
      assertEquals(found.map(_.tree), Right(fold(before ++ suffix).tree))
      assertEquals(found.map(_.written), Right(fold(before ++ suffix).written))
    }
  }

  test("a log that lost its beginning has no state: a later creation is not the first") {
    val lost    = numbered(Writers(1), Seq(Change.MakeFolder(Seq("d"))))
    val created = LogRecord(Writers(2), 1, 0, Change.Created(Store))
    val read    = (lost :+ created).foldLeft[Either[LogReplay, LogState]](Left(LogReplay())) {
      case (Left(replay), record) => replay + record
      case (found, _)             => found
    }
    assert(read.isLeft)
  }

  test("a snapshot is due when the log is long or large beside what it holds, and nobody writes one") {
    val least  = LogSize(10, 1000000, 1000000)
    val puts   = (1 to 30).map(i => Change.Put(Seq(s"f${i % 2}"), overwrite = true, content("x")))
    val log    = LogRecord(Writers.head, 1, 0, Change.Created(Store)) +: numbered(Writers(1), puts)
    val states = log.indices.map(n => fold(log.take(n + 1)))
    assertEquals(states.map(_.isSnapshotDue(least)).indexOf(true), 9)
    val begun = states.last + LogRecord(Writers(2), 1, 0, Change.SnapshotBegin(Store))
    assert(!begun.state.isSnapshotDue(least))
    val ended = begun.state + LogRecord(Writers(2), 2, 0, Change.SnapshotEnd(Store, 0, 0))
    assert(!ended.state.isSnapshotDue(least))
    assertEquals(ended.state.begun.size, 0)
  }

  test("of snapshots that begin at once the first is written, and a later one once the writer of the first is gone") {
    val ids   = (1 to 3).map(n => UUID.nameUUIDFromBytes(Array(n.toByte)))
    val start = fold(Seq(LogRecord(Writers.head, 1, 0, Change.Created(Store))))
    def begin(state: LogState, writer: Int, number: Long = 1) =
      state + LogRecord(Writers(writer), number, 0, Change.SnapshotBegin(ids(writer - 1)))
    val first  = begin(start, 1)
    val second = begin(first.state, 2)
    assertEquals((first.outcome, second.outcome), (Outcome.Done, Outcome.Repeated))
    assertEquals(begin(second.state, 1, 2).outcome, Outcome.Done, "it may begin again")
    val ended = (second.state + LogRecord(Writers(1), 2, 0, Change.SnapshotEnd(ids.head, 0, 0))).state
    assertEquals(begin(ended, 3).outcome, Outcome.Done)
    val puts = numbered(Store, (1 to 600).map(_ => Change.Put(Seq("f"), overwrite = true, content("x"))))
    val gone = puts.foldLeft(second.state)((state, record) => (state + record).state)
    assertEquals(begin(gone, 3).outcome, Outcome.Done)
  }

  property("records and snapshots are the same after they were bytes") {
    forAll(logs) { log =>
      log.foreach(record => assertEquals(RecordFormat.parse(RecordFormat.bytes(record)), Some(record)))
      val state = fold(log)
      assertEquals(SnapshotFormat.parse(SnapshotFormat.bytes(state)), Some(state))
    }
  }

  test("bytes that are no record") {
    val bytes = RecordFormat.bytes(LogRecord(Store, 1, 2, Change.Delete(Seq("a", "b"), recursive = true)))
    bytes.indices.foreach(n => assertEquals(RecordFormat.parse(bytes.take(n)), None))
    Seq(0, 1, 2).foreach(n => assertEquals(RecordFormat.parse(bytes.updated(n, 9: Byte)), None))
    assertEquals((RecordFormat.version(bytes), RecordFormat.version(bytes.updated(2, 9: Byte))), (Some(2), Some(9)))
    assertEquals(RecordFormat.version("{}".getBytes), None)
    assertEquals(RecordFormat.parse("{\"some\": \"message\"}".getBytes), None)
    assertEquals(SnapshotFormat.parse(bytes), None)
  }
}

private object LogStateSuite {
  val Store: UUID        = UUID.nameUUIDFromBytes(Array(7))
  val Writers: Seq[UUID] = (0 to 3).map(n => UUID.nameUUIDFromBytes(Array(n.toByte)))

  def content(text: String): Content = new Content(text.getBytes)

  private def put(name: String, overwrite: Boolean, text: String) =
    Change.Put(Seq(name), overwrite, content(text))

  /** Six records of six writers about two files. */
  val Six: Seq[(Int, Change)] = Seq(
    put("a", overwrite = false, "one"),
    put("a", overwrite = false, "other"),
    put("b", overwrite = true, "over"),
    Change.Delete(Seq("a"), recursive = true),
    Change.Rename(Seq("b"), Seq("a"), overwrite = false),
    Change.Rename(Seq("a"), Seq("b"), overwrite = true)
  ).zipWithIndex.map { case (change, i) => (10 + i, change) }

  def numbered(writer: UUID, changes: Seq[Change]): Seq[LogRecord] =
    changes.zipWithIndex.map { case (change, i) => LogRecord(writer, 1L + i, i.toLong, change) }

  private val name = Gen.oneOf("a", "b", "c")

  private val change: Gen[Change] = Gen.frequency(
    5 -> Gen.zip(name, Gen.oneOf(true, false), Gen.alphaStr).map { case (n, over, text) => put(n, over, text.take(9)) },
    2 -> name.map(n => Change.Delete(Seq(n), recursive = false)),
    2 -> Gen.zip(name, name, Gen.oneOf(true, false)).map { case (f, t, over) => Change.Rename(Seq(f), Seq(t), over) }
  )

  /** Logs of three writers, whose records stand in their order, and are resent at some later place. */
  val logs: Gen[Seq[LogRecord]] = for {
    each <- Gen.sequence[Seq[Seq[LogRecord]], Seq[LogRecord]](Writers.tail.map(w =>
      Gen.choose(1, 8).flatMap(Gen.listOfN(_, change)).map(numbered(w, _))
    ))
    turns   <- Gen.listOfN(40, Gen.choose(0, 2))
    resends <- Gen.listOf(Gen.zip(Gen.choose(0, 1000), Gen.choose(0, 1000)))
  } yield {
    val first = LogRecord(Writers.head, 1, 0, Change.Created(Store)) +: interleaved(each, turns)
    resends.foldLeft(first) { case (log, (which, where)) =>
      val at    = which          % log.size
      val place = at + 1 + where % (log.size - at)
      (log.take(place) :+ log(at)) ++ log.drop(place)
    }
  }

  private def interleaved(queues: Seq[Seq[LogRecord]], turns: Seq[Int]): Seq[LogRecord] = turns match {
    case turn +: rest if queues(turn).nonEmpty =>
      queues(turn).head +: interleaved(queues.updated(turn, queues(turn).tail), rest)
    case _ +: rest => interleaved(queues, rest)
    case _         => queues.flatten
  }

  def distinct(log: Seq[LogRecord]): Seq[LogRecord] = log.distinctBy(r => (r.writer, r.number))

  def start(first: LogRecord): LogState = LogState.created(first, Store)

  def fold(log: Seq[LogRecord]): LogState = log.tail.foldLeft(start(log.head))((state, r) => (state + r).state)

  def files(tree: Tree): Map[String, String] = tree.root.children.collect { case (file, FileNode(content, _)) =>
    file -> text(content)
  }

  /** Text of a content; the first place of one that is apart from the log. */
  private def text(content: FileContent): String = content match {
    case whole: Content => new String(whole.bytes)
    case apart: Apart   => apart.places.head.toString
  }

  /** Files after changes, each of which is made once. */
  def model(changes: Seq[Change]): Map[String, String] = changes.foldLeft(Map.empty[String, String]) {
    case (now, Change.Put(path, over, content)) if over || !now.contains(path.head) =>
      now.updated(path.head, text(content))
    case (now, Change.Delete(path, _)) => now - path.head
    case (now, Change.Rename(from, to, over)) if now.contains(from.head) && (over || !now.contains(to.head)) =>
      (now - from.head).updated(to.head, now(from.head))
    case (now, _) => now
  }
}
