package io.github.pulsarspark.write.exactlyonce

import scala.collection.mutable
import scala.concurrent.duration._
import scala.util.Random

import io.github.pulsarspark.errors.Conditions
import io.github.pulsarspark.options.{Authentication, ClientOptions}
import io.github.pulsarspark.pulsar.transactions.{CommitAnswer, TransactionId}

/** State that a cluster keeps of a sink, with a coordinator that forgets transactions that ended. */
private[exactlyonce] final class FakeSink {
  sealed trait End
  case object Committed extends End
  case object Aborted   extends End

  val log             = mutable.Buffer.empty[(String, String)]
  val opens           = mutable.Buffer.empty[(String, String)]
  val marks           = mutable.Buffer.empty[(String, Option[TransactionId], String)]
  val ends            = mutable.Map.empty[TransactionId, Option[End]] // None while it is open
  val late            = mutable.Set.empty[TransactionId]              // their markers came after they were aborted
  var owner           = 0
  var released        = 0                                             // records of the log that are needed no more
  private var entries = 0

  def place(): String = { entries += 1; s"1:$entries" }

  def committed: Set[TransactionId] = ends.collect { case (id, Some(Committed)) => id }.toSet
  def open: Set[TransactionId]      = ends.collect { case (id, None) => id }.toSet

  def end(id: TransactionId, how: End): Boolean = {
    val isOpen = ends.get(id).contains(None)
    if (isOpen) ends(id) = Some(how)
    isOpen
  }

  /** A task attempt that hands its transaction over, with one row. */
  def attempt(task: SinkTask, epoch: Long, partition: Int): SinkCommit =
    if (task.done.exists(_ >= epoch)) SinkCommit(None, Nil, skipped = 1) else sending(task, epoch, partition)

  private def sending(task: SinkTask, epoch: Long, partition: Int): SinkCommit = {
    val id  = TransactionId(0, ends.size.toLong)
    val one = SinkTransaction(id, partition, ends.size.toLong, rows = 1, bytes = 8)
    ends(id) = None
    opens += place() -> SinkRecords.text(task.identity, SinkRecord.Open(epoch, one, 1000, 0))
    val marker = place()
    marks += ((marker, Some(id), SinkRecords.text(task.identity, SinkRecord.Marker(epoch, one))))
    SinkCommit(Some(one.copy(marker = Some(marker))), Seq(s"topic-partition-$partition"))
  }
}

private[exactlyonce] object FakeSink {
  def settings(nonce: String = "query:q", startsAtZero: Boolean = true, isForever: Boolean = true): SinkSettings =
    SinkSettings(
      ClientOptions("pulsar://nowhere:1", None, 1.second, Authentication.None, None, None, false, false, Map.empty),
      Some("persistent://public/default/t"),
      "public/default",
      "s",
      nonce,
      startsAtZero,
      isForever,
      1.hour
    )

  def started(sink: FakeSink, settings: SinkSettings = FakeSink.settings()): SinkCoordinator =
    started(new FakeCluster(sink, new Random(1), 0), settings)

  def started(cluster: SinkCluster, settings: SinkSettings): SinkCoordinator = started(cluster, settings, 20.seconds)

  /** @param patience
    *   the wait for transactions that stay undecided
    */
  def started(cluster: SinkCluster, settings: SinkSettings, patience: FiniteDuration): SinkCoordinator = {
    val result = new SinkCoordinator(settings, cluster, patience)
    result.start()
    result
  }

  /** The kinds of the records of its log. */
  def kinds(sink: FakeSink): Seq[String] =
    sink.log.toSeq.flatMap(r => SinkRecords.parse(r._2)).map(_._2.getClass.getSimpleName.stripSuffix("$"))

  final class Lost extends RuntimeException("the answer is lost")
}

/** A driver's connection to it. Faults happen by chance.
  *
  * @param mean
  *   one of so many calls fails; 0 for none
  * @param between
  *   what happens elsewhere, before a call
  */
private[exactlyonce] class FakeCluster(sink: FakeSink, random: Random, mean: Int, between: () => Unit = () => ())
    extends SinkCluster {
  private var epoch    = 0
  private var isReadTo = 0
  var isEnded          = false

  private def chance(): Boolean = mean > 0 && random.nextInt(mean) == 0

  /** Fails before the call has an effect, or after it. */
  private def faulty[A](body: => A): A = {
    between()
    if (chance()) throw new FakeSink.Lost
    val result = body
    if (chance()) throw new FakeSink.Lost
    result
  }

  override def check(): Unit = faulty(())

  override def takeOver(admit: Seq[(String, String)] => Unit): Seq[(String, String)] = {
    faulty(admit(sink.log.toSeq))
    faulty { sink.owner += 1; epoch = sink.owner }
    faulty(sink.log.toSeq)
  }

  override def append(record: String): String = faulty {
    if (epoch != sink.owner) throw Conditions.SinkFenced(topic = "log").exception
    val id = sink.place()
    sink.log += id -> record
    id
  }

  override def opened(): Seq[(String, String)] = faulty {
    val result = sink.opens.drop(isReadTo).toSeq
    isReadTo = sink.opens.size
    result
  }

  override def commit(ids: Seq[TransactionId]): Seq[CommitAnswer] = ids.map { id =>
    between()
    if (chance()) CommitAnswer.Uncertain("not sent")
    else if (!sink.end(id, sink.Committed)) CommitAnswer.Uncertain("TransactionNotFound")
    else if (chance()) CommitAnswer.Uncertain("the answer is lost")
    else CommitAnswer.Committed
  }

  override def lost(ids: Seq[TransactionId]): Map[TransactionId, String] =
    ids.filterNot(sink.open).map(_ -> "TransactionNotFound").toMap

  override def ended(ids: Seq[TransactionId]): () => Seq[TransactionId] = () => ids.filterNot(sink.open)

  override def ending(ids: Seq[TransactionId]): Seq[TransactionId]   = Nil
  override def terminated(topicPartitions: Seq[String]): Seq[String] = Nil

  override def abort(ids: Seq[TransactionId]): Set[TransactionId] = ids.flatMap { id =>
    between()
    Option.when(!chance()) { sink.end(id, sink.Aborted); id }
  }.toSet

  override def sweep(aborted: Iterable[TransactionId], topicPartitions: Seq[String]): Unit = {
    between()
    sink.late --= aborted
  }

  override def barrier(record: String): String = faulty {
    val id = sink.place()
    sink.marks += ((id, None, record))
    id
  }

  /** An open transaction hides its marker and what is behind it, and so does a late marker. */
  override def markers(from: String, barrier: String, patience: FiniteDuration): Option[Seq[(String, String)]] = {
    between()
    val readable = sink.marks.takeWhile(m => !m._2.exists(id => sink.open(id) || sink.late(id))).filterNot(
      _._2.exists(id => !sink.committed(id))
    )
    val records = readable.map(m => m._1 -> m._3).toSeq
      .drop(readable.indexWhere(_._1 == from).max(0)) // records that are gone are passed over
    Option.when(records.exists(_._2 == barrier))(records.take(records.indexWhere(_._2 == barrier) + 1))
  }

  override def release(log: Option[String], open: Option[String], mark: Option[String]): Unit =
    log.foreach(id => sink.released = sink.log.indexWhere(_._1 == id) + 1)
  override def end(): Unit   = isEnded = true
  override def close(): Unit = ()
}
