package io.github.pulsarspark.write.exactlyonce

import scala.concurrent.duration._

import io.github.pulsarspark.pulsar.transactions.TransactionId

/** The transactions that tasks registered and that did not end yet, as the driver knows them. Its user guards it. */
private[exactlyonce] final class OpenTransactions(millis: () => Long = () => System.currentTimeMillis()) {
  private var byId = Map.empty[TransactionId, OpenTransaction]
  private var last = Option.empty[String]

  /** @param records
    *   what was read of the topic, each with its id
    */
  def add(records: Seq[(String, String)]): Unit = records.foreach { case (id, text) =>
    last = Some(id)
    SinkRecords.parse(text).foreach {
      case (identity, SinkRecord.Open(epoch, one, _, began)) =>
        byId += one.id -> OpenTransaction(one.id, identity.owner, epoch, millis(), began)
      case _ => ()
    }
  }

  def ended(ids: Set[TransactionId]): Unit = byId --= ids

  def all: Seq[OpenTransaction] = byId.values.toSeq

  def owners: Set[String] = byId.values.map(_.owner).toSet

  def contains(id: TransactionId): Boolean = byId.contains(id)

  def count: Int = byId.size

  /** Milliseconds since the first of them was read; 0 for none. */
  def oldest: Long = byId.values.map(_.time).minOption.fold(0L)(millis() - _)

  /** Age of the oldest of these transactions, by the clocks of the tasks that began them; 0 for none. */
  def age(ids: Seq[TransactionId]): FiniteDuration =
    ids.flatMap(byId.get).map(_.began).minOption.fold(0L)(began => (millis() - began).max(0)).millis

  /** The last record, when those up to it are needed no more. */
  def released: Option[String] = last.filter(_ => byId.isEmpty)
}

/** A transaction that a task registered before it sent anything.
  *
  * @param time
  *   milliseconds since 1970 when it was read
  * @param began
  *   the same when it began, on the clock of its task
  */
private[exactlyonce] final case class OpenTransaction(
    id: TransactionId,
    owner: String,
    epoch: Long,
    time: Long,
    began: Long
)
