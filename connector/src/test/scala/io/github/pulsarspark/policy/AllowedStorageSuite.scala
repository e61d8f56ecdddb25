package io.github.pulsarspark.policy

import java.nio.file.{Files, Path}

import org.apache.hadoop.conf.Configuration

import io.github.pulsarspark.UnitSuite

final class AllowedStorageSuite extends UnitSuite with PolicyRules {

  private val conf = new Configuration(false)
  conf.set("fs.defaultFS", "hdfs://name.example:8020")

  private def allows(prefix: String)(location: String) =
    AllowedStorage.allows(shared("storage" -> prefix), location, conf)

  test("a bucket or a folder and what is below it") {
    val bucket = allows("s3a://bucket/pulsar") _
    Seq("s3a://bucket/pulsar", "s3a://bucket/pulsar/", "S3A://bucket/pulsar/a/b").foreach(l => assert(bucket(l), l))
    Seq(
      "s3a://bucket/pulsar-other",
      "s3a://bucket",
      "s3a://bucket2/pulsar",
      "gs://bucket/pulsar",
      "s3a://bucket/pulsar/../other",
      "s3a://bucket/../bucket/pulsar/../x",
      "s3a://user@bucket/pulsar",
      "pulsar",
      "",
      "s3a:"
    ).foreach(l => assert(!bucket(l), l))
    assert(allows("s3a://bucket")("s3a://bucket/any") && allows("s3a://bucket/")("s3a://bucket"))
  }

  test("a path without a scheme is on Hadoop's own file system") {
    val data = allows("hdfs://name.example:8020/data") _
    assert(data("/data/x") && data("hdfs:///data/x") && data("hdfs://name.example:8020/data"))
    assert(!data("data/x") && !data("/other") && !data("hdfs://other:8020/data"))
  }

  test("links of the local file system are followed") {
    val folder = Files.createTempDirectory("storage")
    val inner  = Files.createDirectory(folder.resolve("inner"))
    val link   = Files.createSymbolicLink(inner.resolve("link"), folder)
    val local  = allows(s"file://$inner") _
    assert(local(s"file:$inner/new/folder") && local(s"file://$inner"))
    assert(!local(s"file:$link/x") && !local(s"file:$folder") && !local(s"$inner"))
    Seq[Path](link, inner, folder).foreach(Files.delete)
  }

  test("nothing without a list") {
    assert(!AllowedStorage.allows(shared(), "s3a://bucket", conf))
  }
}
