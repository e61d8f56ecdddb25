package io.github.pulsarspark.write.exactlyonce

import scala.concurrent.duration.FiniteDuration

import io.github.pulsarspark.pulsar.transactions.{CommitAnswer, TransactionId}

/** Requests of a driver for the topics and transactions of a sink. */
private[exactlyonce] trait SinkCluster extends AutoCloseable {

  /** Fails where transactions cannot be used. */
  def check(): Unit

  /** Reads the log, takes it over from every other driver, and reads it to the end: each record with its id.
    *
    * @param admit
    *   fails for records of a log that is not to be taken over
    */
  def takeOver(admit: Seq[(String, String)] => Unit): Seq[(String, String)]

  /** Appends to the log. After a failure the record may be stored.
    *
    * @return
    *   its id
    */
  def append(record: String): String

  /** Records of transactions that tasks registered since the last call, each with its id. */
  def opened(): Seq[(String, String)]

  def commit(ids: Seq[TransactionId]): Seq[CommitAnswer]

  /** Transactions that are not open, with the reason; sends a request for each. */
  def lost(ids: Seq[TransactionId]): Map[TransactionId, String]

  /** Sends a request for each of these transactions; returns what waits for the responses, and then has those that
    * coordinators report as not open. A coordinator that does not respond reports none.
    */
  def ended(ids: Seq[TransactionId]): () => Seq[TransactionId]

  /** Transactions whose end is decided but not yet carried out in each of their topic partitions. */
  def ending(ids: Seq[TransactionId]): Seq[TransactionId]

  /** Terminated topic partitions of the write and of `topicPartitions`: no transaction can end there. */
  def terminated(topicPartitions: Seq[String]): Seq[String]

  /** Aborts transactions and returns those that have ended. Fails with `PULSAR_TRANSACTION_NOT_OWNED`, after trying
    * each, where these credentials must not end one.
    */
  def abort(ids: Seq[TransactionId]): Set[TransactionId]

  /** Frees the marker topic, the topic partitions of the write and these from late messages of aborted transactions: a
    * partition that was registered and had no message before is blocked by one, until a later transaction of the same
    * coordinator ends there.
    */
  def sweep(aborted: Iterable[TransactionId], topicPartitions: Seq[String]): Unit

  /** Appends a barrier to the marker topic.
    *
    * @return
    *   its id
    */
  def barrier(record: String): String

  /** The records of the marker topic between two, each with its id. None when the second is not readable in time.
    *
    * @param from
    *   the id of the first
    * @param barrier
    *   appended before
    */
  def markers(from: String, barrier: String, patience: FiniteDuration): Option[Seq[(String, String)]]

  /** Releases the records up to these ids, which are no longer needed. */
  def release(log: Option[String], open: Option[String], mark: Option[String]): Unit

  /** Deletes the sink's subscriptions, so that brokers may delete its control topics. */
  def end(): Unit
}
