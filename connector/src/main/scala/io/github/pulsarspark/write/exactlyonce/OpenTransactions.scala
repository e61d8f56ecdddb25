package io.github.pulsarspark.write.exactlyonce

import scala.concurrent.duration._

import io.github.pulsarspark.pulsar.transactions.TransactionId

/** The transactions that tasks registered and that did not end yet, as the driver knows them. Its user guards it.
  *
  * @param millis
  *   the time, which tasks record as well
  * @param nanos
  *   a clock of this process that nobody sets
  */
private[exactlyonce] final class OpenTransactions(
    millis: () => Long = () => System.currentTimeMillis(),
    nanos: () => Long = () => System.nanoTime()
) {
  import OpenTransactions._

  private var byId = Map.empty[TransactionId, OpenTransaction]
  private var last = Option.empty[String]

  /** @param records
    *   what was read of the topic, each with its id
    */
  def add(records: Seq[(String, String)]): Unit = records.foreach { case (id, text) =>
    last = Some(id)
    SinkRecords.parse(text).foreach {
      case (identity, SinkRecord.Open(epoch, one, _, began)) =>
        byId += one.id -> OpenTransaction(one.id, identity.owner, epoch, nanos(), (millis() - began).millis)
      case _ => ()
    }
  }

  def ended(ids: Set[TransactionId]): Unit = byId --= ids

  def all: Seq[OpenTransaction] = byId.values.toSeq

  def owners: Set[String] = byId.values.map(_.owner).toSet

  def contains(id: TransactionId): Boolean = byId.contains(id)

  def count: Int = byId.size

  /** Milliseconds since the first of them was read; 0 for none. */
  def oldest: Long = byId.values.map(since).maxOption.fold(0L)(_.toMillis)

  /** Age of the oldest of these transactions; 0 for none. Unknown when the clock of a task that began one is far ahead
    * of this one.
    */
  def age(ids: Seq[TransactionId]): Option[FiniteDuration] = {
    val known = ids.flatMap(byId.get)
    Option.unless(known.exists(_.delay < -MostAhead)) {
      known.map(one => one.delay.max(Duration.Zero) + since(one)).maxOption.getOrElse(Duration.Zero)
    }
  }

  private def since(one: OpenTransaction): FiniteDuration = (nanos() - one.readAt).nanos

  /** The last record, when those up to it are needed no more. */
  def released: Option[String] = last.filter(_ => byId.isEmpty)
}

private object OpenTransactions {

  /** Clocks of one cluster differ by less, unless one is wrong. */
  private val MostAhead = 1.minute
}

/** A transaction that a task registered before it sent anything.
  *
  * @param readAt
  *   nanoseconds when it was read
  * @param delay
  *   from its begin on the clock of its task until it was read
  */
private[exactlyonce] final case class OpenTransaction(
    id: TransactionId,
    owner: String,
    epoch: Long,
    readAt: Long,
    delay: FiniteDuration
)
