package redisstore_test

import (
	"circle/internal/service"
	"circle/internal/social"
	"circle/internal/store/redisstore"
)

var (
	_ service.PageCache                                    = (*redisstore.Store)(nil)
	_ service.MergeWindow                                  = (*redisstore.Windows)(nil)
	_ service.Window                                       = (*redisstore.Split)(nil)
	_ service.EachWindow                                   = (*redisstore.Windows)(nil)
	_ service.Cache[social.PlayerID, *social.Player]       = (*redisstore.Store)(nil).Players()
	_ service.Cache[social.PlayerID, *social.PlayerDetail] = (*redisstore.Store)(nil).Details()
	_ service.Cache[social.FeedID, *social.Feed]           = (*redisstore.Store)(nil).Feeds()
	_ service.Cache[social.FeedID, *social.FeedBody]       = (*redisstore.Store)(nil).Bodies()
	_ service.Cache[social.FeedID, *social.FeedCounters]   = (*redisstore.Store)(nil).Counters()
	_ service.Cache[social.CommentID, *social.Comment]     = (*redisstore.Store)(nil).Comments()
)
