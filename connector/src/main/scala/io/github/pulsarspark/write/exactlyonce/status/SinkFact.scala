package io.github.pulsarspark.write.exactlyonce.status

import java.time.Instant

/** A fact of the state of a sink: the sink itself, a driver, an epoch or a transaction.
  *
  * @param namespace
  *   of the topics of the sink itself
  * @param owner
  *   the life of a driver's coordinator that wrote the record
  * @param time
  *   of writing, on the clock of the writer
  * @param transactions
  *   of an epoch
  * @param lost
  *   how many of the rows of an epoch are not in the topic, as a person accepted
  * @param most
  *   the upper half of the id of a transaction; `least` is the lower one
  * @param age
  *   milliseconds since a transaction began that is open
  * @param left
  *   milliseconds until it times out
  * @param detail
  *   the nonce of the sink, or name and address of a driver
  */
private[pulsarspark] final case class SinkFact(
    record: String,
    namespace: Option[String] = None,
    epoch: Option[Long] = None,
    owner: Option[String] = None,
    time: Option[Instant] = None,
    transactions: Option[Int] = None,
    rows: Option[Long] = None,
    lost: Option[Long] = None,
    most: Option[Long] = None,
    least: Option[Long] = None,
    partition: Option[Int] = None,
    attempt: Option[Long] = None,
    state: Option[String] = None,
    age: Option[Long] = None,
    left: Option[Long] = None,
    detail: Option[String] = None
)
