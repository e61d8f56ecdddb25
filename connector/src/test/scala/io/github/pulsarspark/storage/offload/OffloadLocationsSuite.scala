package io.github.pulsarspark.storage.offload

import com.fasterxml.jackson.databind.ObjectMapper

import io.github.pulsarspark.UnitSuite
import io.github.pulsarspark.storage.offload.format.{BlockFormat, MapFileFormat, OffloadLocation}

class OffloadLocationsSuite extends UnitSuite {

  private def blocks(uri: String)   = OffloadLocation(BlockFormat, uri)
  private def mapFiles(uri: String) = OffloadLocation(MapFileFormat, uri)

  private def find(policies: String, location: String = "", format: String = "") = OffloadLocations.find(
    Option(policies).filter(_.nonEmpty).map(new ObjectMapper().readTree(_)),
    Option(location).filter(_.nonEmpty),
    Option(format).filter(_.nonEmpty)
  )

  private def policy(driver: String, fields: (String, String)*): String =
    (("managedLedgerOffloadDriver" -> driver) +: fields).map {
      case (k, v) => s""""$k": "$v""""
    }.mkString("{", ", ", """, "managedLedgerOffloadMaxThreads": 2}""")

  private val byPolicy = Seq(
    policy("aws-s3", "s3ManagedLedgerOffloadBucket" -> "old", "managedLedgerOffloadBucket" -> "new") ->
      blocks("s3a://old"),
    policy("aws-s3", "managedLedgerOffloadBucket" -> "new")                -> blocks("s3a://new"),
    policy("S3", "managedLedgerOffloadBucket" -> "new")                    -> blocks("s3a://new"),
    policy("AWS-S3", "managedLedgerOffloadBucket" -> "new")                -> blocks("s3a://new"),
    policy("google-cloud-storage", "gcsManagedLedgerOffloadBucket" -> "b") -> blocks("gs://b"),
    policy("google-cloud-storage", "managedLedgerOffloadBucket" -> "b")    -> blocks("gs://b"),
    policy("aliyun-oss", "managedLedgerOffloadBucket" -> "b")              -> blocks("oss://b"),
    policy(
      "azureblob",
      "managedLedgerOffloadBucket"          -> "box",
      "managedLedgerOffloadServiceEndpoint" -> "https://account1.blob.core.windows.net/"
    ) -> blocks("abfss://box@account1.dfs.core.windows.net"),
    policy("filesystem", "fileSystemURI" -> "hdfs://name:9000/pulsar") -> mapFiles("hdfs://name:9000/pulsar"),
    policy("filesystem", "fileSystemURI" -> " file:///data/ ")         -> mapFiles("file:///data/")
  )

  for ((policies, location) <- byPolicy) test(s"$policies is $location")(assertEquals(find(policies), Right(location)))

  private val unknown = Seq(
    ""                                                         -> "there are no offload policies",
    "null"                                                     -> "name no driver",
    "{}"                                                       -> "name no driver",
    """{"managedLedgerOffloadDriver": null}"""                 -> "name no driver",
    policy("")                                                 -> "name no driver",
    policy("delta-lake", "managedLedgerOffloadBucket" -> "b")  -> "the offload driver delta-lake is not known here",
    policy("aws-s3", "managedLedgerOffloadBucket" -> "")       -> "name no bucket",
    policy("filesystem", "fileSystemProfilePath" -> "/x.xml")  -> "have no fileSystemURI",
    policy("filesystem", "fileSystemURI" -> "/data")           -> "/data is not a URI with a scheme",
    policy("azureblob", "managedLedgerOffloadBucket" -> "box") -> "lack the storage account",
    policy("azureblob", "managedLedgerOffloadServiceEndpoint" -> "https://a.blob.core.net/") -> "name no bucket"
  )

  for ((policies, reason) <- unknown) test(s"'$policies' is unknown") {
    find(policies) match {
      case Left(why)    => assert(why.contains(reason), why)
      case Right(found) => fail(s"found $found")
    }
  }

  test("an unknown location is no secret, and no credentials of the policies are in any text") {
    val secrets =
      Seq("s3ManagedLedgerOffloadCredentialId" -> "AKID", "s3ManagedLedgerOffloadCredentialSecret" -> "hidden")
    for (driver <- Seq("aws-s3", "other", "azureblob", "filesystem", ""))
      assert(!find(policy(driver, secrets: _*)).toString.matches(".*(AKID|hidden).*"), driver)
  }

  private val byOption = Seq(
    ("", "s3a://bucket/part", "", blocks("s3a://bucket/part")),
    ("", "gs://bucket", "", blocks("gs://bucket")),
    ("", "abfss://c@a.dfs.core.windows.net/p", "", blocks("abfss://c@a.dfs.core.windows.net/p")),
    ("", "hdfs://name/p", "", mapFiles("hdfs://name/p")),
    ("", "file:///p", "block", blocks("file:///p")),
    ("", "file:///p", "mapfile", mapFiles("file:///p")),
    ("", "s3a://bucket", "mapfile", mapFiles("s3a://bucket")),
    (policy("filesystem"), "file:///p", "", mapFiles("file:///p")),
    (policy("aws-s3"), "file:///p", "", blocks("file:///p")),
    (policy("filesystem"), "file:///p", "block", blocks("file:///p")),
    (policy("other"), "s3a://b", "", blocks("s3a://b")),
    (policy("filesystem", "fileSystemURI" -> "file:///p"), "", "block", blocks("file:///p"))
  )

  for ((policies, location, format, expected) <- byOption)
    test(s"$location as '$format' beside '$policies'")(assertEquals(find(policies, location, format), Right(expected)))

  test("an option that is incomplete, the part that is missing") {
    assert(find("", "file:///p").left.exists(_.endsWith("set offload.format")))
    assert(find("", "bucket", "block").left.exists(_.startsWith("bucket is not a URI with a scheme")))
    assert(find("", "s3a://a b", "").left.exists(_.startsWith("s3a://a b is not a URI")))
  }
}
