// How the examples of streamnative/pulsar-spark's README end: the helpers of test_incumbent_readme.py, in spark-shell.
// The test fills in the names between @ signs.

object Ends {
  private var sent    = 0
  private var streams = 0

  def apply(number: Int)(example: => Seq[(String, String)]): Unit = {
    val end =
      try example.map { case (key, value) => s"$key=$value" }.sorted.mkString(",")
      catch { case e: Throwable => Iterator.iterate(e)(_.getCause).takeWhile(_ != null).mkString("failed: ", " ", "") }
    println(s"\nENDS\t$number\t${end.linesIterator.mkString(" ")}")
  }

  def read(rows: org.apache.spark.sql.Dataset[(String, String)]): Seq[(String, String)] = rows.collect().toSeq

  /** A stream sees what it starts with, then one more message. */
  def readStream(rows: org.apache.spark.sql.Dataset[(String, String)]): Seq[(String, String)] = {
    streams += 1
    val seen  = s"seen$streams"
    val query = rows.writeStream.format("memory").queryName(seen).start()
    try {
      query.processAllAvailable()
      Seq(("n", "next")).toDF("__key", "value").write.format("pulsar")
        .option("service.url", "@url@").option("topic", "@ns@/topic1").mode("append").save()
      query.processAllAvailable()
      spark.table(seen).as[(String, String)].collect().toSeq
    } finally query.stop()
  }

  def writeSource: org.apache.spark.sql.DataFrame =
    Seq(("@ns@/topic2", "s", "sent")).toDF("__topic", "__key", "value")

  def writeStreamSource: org.apache.spark.sql.DataFrame =
    spark.readStream.format("pulsar").option("service.url", "@url@").option("topic", "@ns@/source")
      .option("startingOffsets", "earliest").load()
      .withColumn("__topic", org.apache.spark.sql.functions.lit("@ns@/topic2"))

  /** What has been sent since the last call. */
  def write(done: Unit): Seq[(String, String)] = {
    val rows = spark.read.format("pulsar").option("service.url", "@url@").option("topicsPattern", "@ns@/topic.*").load()
      .where("value = 'sent'").selectExpr("CAST(__key AS STRING)", "value").as[(String, String)].collect().toSeq
    val fresh = rows.drop(sent)
    sent = rows.size
    fresh
  }

  def writeStream(query: org.apache.spark.sql.streaming.StreamingQuery): Seq[(String, String)] = {
    try query.processAllAvailable()
    finally query.stop()
    write(())
  }
}
