package io.github.pulsarspark.write

import org.apache.spark.sql.connector.write.PhysicalWriteInfo
import org.apache.spark.sql.types.{LongType, StringType, StructField, StructType}

import io.github.pulsarspark.UnitSuite
import io.github.pulsarspark.errors.PulsarError
import io.github.pulsarspark.options.{ExactlyOnceOptions, WriteOptions}
import io.github.pulsarspark.options.registry.{CheckedOptions, RawOptions, Scope}
import io.github.pulsarspark.pulsar.connection.ClientSettings
import io.github.pulsarspark.write.exactlyonce.SinkSettings

/** Writes that are refused before any request: [[ExactlyOnceWrites]] and [[NamedIdWrites]]. */
class WriteChecksSuite extends UnitSuite {

  private def columns(names: String*) = StructType(names.map(StructField(_, StringType)))
  private val ids                     = StructType(columns("value").fields :+ StructField("__sequenceId", LongType))

  private def problem(condition: String)(body: => Any): String = {
    val e = intercept[RuntimeException with PulsarError](body)
    assertEquals(e.condition, condition)
    e.getMessage
  }

  private def once(input: StructType, options: (String, String)*): Unit =
    ExactlyOnceWrites.check(input, new RawOptions(options.toMap, _ => Nil))

  private val refusedOnce = "PULSAR_EXACTLY_ONCE_OPTION"

  test("exactly once: columns that transactions cannot have are refused by name") {
    once(columns("value", "__key"))
    Seq("__replicationClusters", "__sequenceId").foreach { name =>
      assert(problem(refusedOnce)(once(columns("value", name))).contains(s"`$name`"), name)
    }
  }

  test("exactly once: a query that forgets which micro-batches were written is refused") {
    once(columns("value"), "asyncProgressTrackingEnabled" -> "false")
    problem(refusedOnce)(once(columns("value"), "asyncProgressTrackingEnabled" -> "TRUE"))
  }

  test("exactly once: as many tasks as the record of an epoch names") {
    ExactlyOnceWrites.checkTasks(SinkSettings.MaxTasks)
    assert(problem(refusedOnce)(ExactlyOnceWrites.checkTasks(SinkSettings.MaxTasks + 1)).contains("50001 tasks"))
  }

  private def exactlyOnce(set: (String, String)*): (WriteOptions, ExactlyOnceOptions) = {
    val all = Map("service.url" -> "pulsar://h:1", "deliveryGuarantee" -> "exactly-once") ++ set
    val of  = WriteOptions(CheckedOptions(all, Scope.BatchWrite, ClientSettings.fields))
    (of, of.exactlyOnce.get)
  }

  test("exactly once: the state is in the namespace of the option, else in that of the topic") {
    def namespace(set: (String, String)*) = (SinkSettings.namespace _).tupled(exactlyOnce(set: _*))
    assertEquals(namespace("topic" -> "persistent://a/b/t"), "a/b")
    assertEquals(namespace("topic" -> "persistent://a/b/t", "sinkNamespace" -> "c/d"), "c/d")
    assert(problem(refusedOnce)(namespace()).contains("sinkNamespace"))
  }

  test("exactly once: a batch with a number belongs to its query and its state stays; that of another job does not") {
    def kind(query: Option[String], set: (String, String)*) = {
      val (all, once) = exactlyOnce(set :+ ("topic" -> "t"): _*)
      val sink        = SinkSettings.ofBatch(all, once, query)
      (sink.nonce, sink.isForever)
    }
    val number = Seq("sinkId" -> "s", "txnVersion" -> "3")
    assertEquals(kind(Some("q"), number: _*), ("versions:q", true))
    assertEquals(kind(None, number: _*), ("versions", true))
    assertEquals(kind(Some("q")), ("job", false))
  }

  private def options(set: (String, String)*): WriteOptions = WriteOptions(CheckedOptions(
    Map("service.url" -> "pulsar://h:1", "topic" -> "t") ++ set.map { case (k, v) => s"pulsar.producer.$k" -> v },
    Scope.BatchWrite,
    ClientSettings.fields
  ))

  private val named  = "producerName"                  -> "p"
  private val begins = "initialSequenceId"             -> "7"
  private val lazily = "lazyStartPartitionedProducers" -> "true"

  private def check(input: StructType, isRepeated: Boolean, set: (String, String)*): Unit =
    NamedIdWrites.check(input, options(set: _*), isRepeated)

  private def refusedIds(body: => Any): String = problem("PULSAR_WRITE_SEQUENCE_IDS")(body)

  test("ids under the name of a producer: micro-batches cannot begin again at the same one") {
    check(ids, isRepeated = true, named)
    check(ids, isRepeated = false, named, begins)
    assert(refusedIds(check(ids, isRepeated = true, named, begins)).contains("initialSequenceId"))
    check(ids, isRepeated = true, begins)
    check(columns("value"), isRepeated = true, begins)
  }

  test("ids under the name of a producer: the ids that brokers have are known from the start") {
    assert(refusedIds(check(ids, isRepeated = false, named, lazily)).contains("lazyStartPartitionedProducers"))
    check(ids, isRepeated = false, lazily)
    check(columns("value"), isRepeated = false, named, lazily)
  }

  private def tasks(count: Int, input: StructType, set: (String, String)*): Unit = NamedIdWrites.checkTasks(
    WriteContext(input, options(set: _*), None, isStream = false),
    new PhysicalWriteInfo { override def numPartitions(): Int = count }
  )

  test("ids under the name of a producer: one task, since a later one may have smaller ids") {
    tasks(1, ids, named)
    tasks(2, ids)
    tasks(2, columns("value"), named)
    assert(refusedIds(tasks(2, ids, named)).contains("2 tasks"))
  }
}
