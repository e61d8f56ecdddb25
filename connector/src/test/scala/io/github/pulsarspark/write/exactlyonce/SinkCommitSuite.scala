package io.github.pulsarspark.write.exactlyonce

import org.apache.spark.SparkConf
import org.apache.spark.serializer.KryoSerializer
import org.apache.spark.sql.connector.write.WriterCommitMessage

import io.github.pulsarspark.UnitSuite
import io.github.pulsarspark.pulsar.transactions.TransactionId

class SinkCommitSuite extends UnitSuite {
  private val one    = SinkTransaction(TransactionId(1, -2), partition = 3, attempt = 4, rows = 5, marker = Some("6:7"))
  private val commit = SinkCommit(Some(one), Seq("persistent://a/b/t-partition-0"), skipped = 8)

  test("the report of a task is what Kryo knows, also where every class has to be registered") {
    val kryo    = new KryoSerializer(new SparkConf(false).set("spark.kryo.registrationRequired", "true")).newInstance()
    val brought = kryo.deserialize[WriterCommitMessage](kryo.serialize(commit.message))
    assertEquals(SinkCommit.in(Seq(brought)), Seq(commit))
    intercept[IllegalArgumentException](kryo.serialize(commit))
  }

  test("tasks of other writes and tasks that failed report nothing") {
    val messages = Array(commit.message, new WriterCommitMessage {}, SinkCommit(None, Nil).message)
    assertEquals(SinkCommit.in(messages.toSeq :+ Option.empty[WriterCommitMessage].orNull),
      Seq(commit, SinkCommit(None, Nil)))
  }
}
